// Values as the server sends them, and as they are said.

export const bytes = (text) => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
export const numbers = ({ bdata }) => new Float32Array(bytes(bdata).buffer);
export const signed = (value) => String(value).replace("-", "−");
