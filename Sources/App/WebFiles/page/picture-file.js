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
 * The picture that a video shows, in its own size. null if it shows none.
 * @param {HTMLVideoElement} video
 * @returns {Promise<Blob | null>}
 */
export function pictureOf(video) {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  if (canvas.width === 0) return Promise.resolve(null);
  canvas.getContext("2d")?.drawImage(video, 0, 0);
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
