/// Limits for what comes from files. What exceeds them was never written by a gateway: a disk has garbled it. Everything
/// that is calculated from values within them fits into 64 bits.
extension UploadSession {
    var isPlausible: Bool {
        RecordingLayout.times.contains(id.start) && RecordingLayout.isSafe(device: id.device)
            && tracks.count <= 16 && tracks.allSatisfy(\.isPlausible)
            && (0...1_000_000_000).contains(destination.segmentDuration)
            // It is below the folder of all recordings.
            && !folder.hasPrefix("/") && !folder.split(separator: "/").contains("..") && !folder.contains("\0")
    }
}

extension UploadSession.Track {
    fileprivate var isPlausible: Bool {
        (1...1_000_000_000).contains(timescale) && (0...1 << 30).contains(headerByteCount)
    }
}

extension UploadSegment {
    var isPlausible: Bool {
        // Tracks are checked where they are used.
        (0..<1 << 60).contains(decodeTime) && (0..<1 << 60).contains(duration) && (0...1 << 40).contains(byteCount)
            && RecordingLayout.times.contains(capturedAt / 1_000)
    }
}
