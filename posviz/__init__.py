"""posviz: how Transformers know where a token stands, as exact numbers and pictures."""
