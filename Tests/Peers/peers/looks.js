/**
 * Measures a screenshot in cells: the mean lightness, how much it varies, and the mean colour. Each is a range: what
 * the cell has when the grid lies up to two pixels higher or lower, and up to half a cell to the left or right.
 */
globalThis.measureLook = async ({ png, columns, rows, across, down }) => {
  const bytes = Uint8Array.from(atob(png), (one) => one.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  // Sums over the rectangle from the left upper corner, so that each cell costs four look-ups.
  const stride = width + 1;
  const sums = Array.from({ length: 4 }, () => new Float64Array(stride * (height + 1)));
  const [light, squares, blueness, redness] = sums;
  for (let y = 0, at = 0; y < height; y += 1) {
    const line = [0, 0, 0, 0];
    for (let x = 0; x < width; x += 1, at += 4) {
      const [red, green, blue] = [data[at] / 255, data[at + 1] / 255, data[at + 2] / 255];
      const luma = 0.299 * red + 0.587 * green + 0.114 * blue;
      const here = (y + 1) * stride + x + 1;
      line[0] += luma;
      line[1] += luma * luma;
      line[2] += blue - luma;
      line[3] += red - luma;
      for (let one = 0; one < 4; one += 1) sums[one][here] = sums[one][here - stride] + line[one];
    }
  }
  const measure = (row, column, right, below) => {
    const bounded = (value, most) => Math.min(Math.max(Math.round(value), 0), most);
    const left = bounded((column * width) / columns + right, width - 1);
    const top = bounded((row * height) / rows + below, height - 1);
    const end = Math.max(bounded(((column + 1) * width) / columns + right, width), left + 1);
    const bottom = Math.max(bounded(((row + 1) * height) / rows + below, height), top + 1);
    const area = (end - left) * (bottom - top);
    const mean = (of) => (of[bottom * stride + end] - of[top * stride + end]
      - of[bottom * stride + left] + of[top * stride + left]) / area;
    const lightness = mean(light);
    const detail = Math.sqrt(Math.max(0, mean(squares) - lightness * lightness));
    return [lightness, detail, mean(blueness), mean(redness)].map((value) => Math.round(value * 1000) / 1000);
  };
  const shifts = [];
  for (const right of across) for (const below of down) shifts.push([right, below]);
  const cells = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      cells.push([measure(row, column, 0, 0), ...shifts.map(([right, below]) => measure(row, column, right, below))]);
    }
  }
  // As text: Playwright takes seconds for that many numbers.
  return JSON.stringify(cells);
};
