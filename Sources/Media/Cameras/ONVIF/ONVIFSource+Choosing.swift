import ONVIF

extension ONVIFSource.Stream {
    /// The profile to pull.
    /// - Parameter profiles: the camera's profiles; the one that browsers play best comes first.
    /// - Throws: ``ONVIFError/unsupported(_:)`` if no profile has video, and ``ONVIFError/noSecondProfile`` for ``sub`` if
    ///   the camera has one stream.
    func choose(among profiles: [MediaProfile]) throws(ONVIFError) -> MediaProfile {
        guard let best = profiles.first else { throw .unsupported(.videoProfile) }
        if self == .best { return best }
        // A series of images is pulled only if there is nothing else.
        let streams = profiles.filter(\.isVideoStream)
        // Of several equally large ones, the one that browsers play best.
        let largest = streams.reduce(streams.first ?? best) { $1.pixels > $0.pixels ? $1 : $0 }
        if self == .main { return largest }
        let others = streams.filter { $0.isSmaller(than: largest) && $0.isSamePicture(as: largest) }
        guard let smallest = others.last(where: { $0.videoEncoding == others.first?.videoEncoding }) else {
            throw .noSecondProfile
        }
        return smallest
    }
}

extension MediaProfile {
    /// Whether the pictures are a video stream for viewers, and not a series of images.
    fileprivate var isVideoStream: Bool {
        ["H264", "MPEG4-AVC", "H265", "HEVC"].contains(videoEncoding.uppercased())
    }

    fileprivate var pixels: Int { width.multipliedReportingOverflow(by: height).partialValue }

    /// Whether it may be the smaller stream beside another one. A camera need not state the sizes.
    fileprivate func isSmaller(than other: MediaProfile) -> Bool {
        token != other.token && (pixels < other.pixels || pixels == 0)
    }

    /// Whether both come from the same sensor: a recorder, or a camera with several lenses, has profiles for each.
    fileprivate func isSamePicture(as other: MediaProfile) -> Bool {
        guard let own = videoSource, let others = other.videoSource else { return true }
        return own == others
    }
}
