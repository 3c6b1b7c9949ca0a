"""A player of segments by Media Source Extensions, for a page in a browser."""

PLAYER = """async ([base, token, tracks, times]) => {
    const types = tracks.map((one) => `${one.kind}/mp4; codecs="${one.codec}"`);
    if (!types.every((type) => MediaSource.isTypeSupported(type))) return null;
    const headers = { Authorization: `Bearer ${token}` };
    const video = document.createElement("video");
    video.muted = true;
    const failed = new Promise((_, reject) => {
        video.addEventListener("error", () => reject(new Error(video.error.message)), { once: true });
    });
    const happens = (target, name) => Promise.race([
        new Promise((done) => target.addEventListener(name, done, { once: true })), failed,
    ]);
    const source = new MediaSource();
    video.src = URL.createObjectURL(source);
    await happens(source, "sourceopen");
    // Chromium accepts no buffer any more once the first one has data.
    const buffers = types.map((type) => source.addSourceBuffer(type));
    for (const [index, track] of tracks.entries()) {
        for (const file of track.files) {
            const response = await fetch(base + file, { headers });
            if (!response.ok) throw new Error(`${file}: ${response.status}`);
            buffers[index].appendBuffer(await response.arrayBuffer());
            await happens(buffers[index], "update");
        }
    }
    source.endOfStream();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [64, 48];
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const contrast = () => {
        context.drawImage(video, 0, 0, canvas.width, canvas.height);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        const green = data.filter((_, index) => index % 4 === 1);
        return Math.max(...green) - Math.min(...green);
    };
    // The picture of a seek may be there a moment after its event. An empty one stays empty.
    const drawn = async () => {
        const began = performance.now();
        let found = contrast();
        while (found === 0 && performance.now() - began < 10000) {
            await new Promise((done) => setTimeout(done, 20));
            found = contrast();
        }
        return found;
    };
    const shown = [];
    const contrasts = [];
    for (const time of times) {
        video.currentTime = time;
        await happens(video, "seeked");
        shown.push(video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA);
        if (video.videoWidth > 0) contrasts.push(await drawn());
    }
    const ranges = buffers.map(({ buffered }) => [buffered.length, buffered.start(0), buffered.end(0)]);
    return { width: video.videoWidth, ranges, shown, contrasts, sound: video.webkitAudioDecodedByteCount };
}"""
"""Plays segments by Media Source Extensions, and returns null where the browser does not know the codec. For each
picture that was asked for, `contrasts` has how far its brightest point is from its darkest: 0 for an empty picture."""

SUPPORTS = "(types) => types.map((type) => MediaSource.isTypeSupported(type))"
"""Whether the browser says that it plays each media type."""
