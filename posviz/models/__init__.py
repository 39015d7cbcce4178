"""Real tiny Transformers: trained here, and measured past the length they were trained at."""
