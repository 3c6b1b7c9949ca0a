import { t } from "./text.js";


/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");

/**
 * The name of a file with a picture of a camera.
 * @param {string} name of the camera
 * @param {Date} time
 */
export function pictureName(name, time) {
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const plain = name.replaceAll(/[^\p{L}\p{N} ._-]+/gu, "").trim() || t("pictureFile.camera");
  return `${plain} ${day} ${two(time.getHours())}.${two(time.getMinutes())}.${two(time.getSeconds())}.jpg`;
}

/**
 * The size of what is shown, in its own pixels; 0 while nothing is.
 * @param {HTMLVideoElement | HTMLImageElement} picture
 */
export function sizeOf(picture) {
  return "videoWidth" in picture ? { width: picture.videoWidth, height: picture.videoHeight }
    : { width: picture.naturalWidth, height: picture.naturalHeight };
}

/**
 * The picture that a video or an image shows, in its own size. null if it shows none.
 * @param {HTMLVideoElement | HTMLImageElement} picture
 * @returns {Promise<Blob | null>}
 */
export function pictureOf(picture) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, sizeOf(picture));
  if (canvas.width === 0) return Promise.resolve(null);
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", 0.92); });
}

/**
 * Lets the browser keep a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
