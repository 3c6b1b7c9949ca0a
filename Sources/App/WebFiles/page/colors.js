/**
 * CIE x and y of a hue and saturation at full brightness, for the primaries of sRGB.
 * @param {number} hue degrees
 * @param {number} saturation 0 to 1
 * @returns {{ x: number, y: number }}
 */
export function pointOf(hue, saturation) {
  /** @param {number} offset */
  const channel = (offset) => {
    const place = (offset + hue / 60) % 6;
    const value = 1 - saturation * Math.max(0, Math.min(place, 4 - place, 1));
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const [red, green, blue] = [channel(5), channel(3), channel(1)];
  const x = 0.4124 * red + 0.3576 * green + 0.1805 * blue;
  const y = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const z = 0.0193 * red + 0.1192 * green + 0.9505 * blue;
  const sum = x + y + z;
  return { x: x / sum, y: y / sum };
}

/**
 * The hue and saturation that look most like a CIE point.
 * @param {number} x
 * @param {number} y
 * @returns {{ hue: number, saturation: number }} degrees, and 0 to 1
 */
export function hueOf(x, y) {
  const bright = y > 0 ? 1 / y : 0;
  const [big, small] = [x * bright, (1 - x - y) * bright];
  const channels = [
    3.2406 * big - 1.5372 - 0.4986 * small, -0.9689 * big + 1.8758 + 0.0415 * small,
    0.0557 * big - 0.2040 + 1.0570 * small,
  ].map((value) => Math.max(0, value));
  const highest = Math.max(...channels);
  if (highest === 0) return { hue: 0, saturation: 0 };
  const [red, green, blue] = channels.map((value) => {
    const part = value / highest;
    return part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055;
  });
  const spread = Math.max(red, green, blue) - Math.min(red, green, blue);
  if (spread < 1e-6) return { hue: 0, saturation: 0 };
  const place = red >= green && red >= blue ? ((green - blue) / spread + 6) % 6
    : green >= blue ? (blue - red) / spread + 2 : (red - green) / spread + 4;
  return { hue: place * 60, saturation: spread };
}

/**
 * The other unit of colour temperatures: kelvins for mireds, and mireds for kelvins.
 * @param {number} value
 */
export function reciprocal(value) { return value > 0 ? Math.round(1e6 / value) : 0; }
