import Transport

/// A media presentation description of DASH (ISO/IEC 23009-1): one period with one representation for each track, whose
/// segments are files with rising numbers.
public struct DASHManifest: Equatable, Sendable {
    /// A segment that exists.
    public struct Segment: Equatable, Sendable {
        /// Its number, as in its name.
        public var number: Int
        /// Its first decode time and how long it lasts, in the track's timescale.
        public var time: Int64
        public var duration: Int64

        /// Describes a segment.
        public init(number: Int, time: Int64, duration: Int64) {
            self.number = number
            self.time = time
            self.duration = duration
        }
    }

    /// One track.
    public struct Track: Equatable, Sendable {
        /// Its name: the representation's id, and the folder of its files.
        public var name: String
        /// Whether it is video.
        public var isVideo: Bool
        /// Its codec, as in RFC 6381.
        public var codec: String
        /// Ticks in a second.
        public var timescale: Int
        /// Its rate in bits per second.
        public var bandwidth: Int
        /// Width and height in pixels; nil for sound.
        public var width: Int?
        public var height: Int?
        /// How long a segment usually is, in seconds, for a list that is not complete.
        public var segmentDuration: Double
        /// The number of the first segment.
        public var firstNumber: Int
        /// Where its initialization segment is.
        public var initialization: String
        /// Where its segments are, with `$Number$` or `$Number%04d$` (section 5.3.9.4.4).
        public var media: String
        /// All of its segments, for a list that is complete.
        public var segments: [Segment]

        /// Describes a track.
        public init(
            name: String, isVideo: Bool, codec: String, timescale: Int, bandwidth: Int, width: Int? = nil,
            height: Int? = nil, segmentDuration: Double, firstNumber: Int, initialization: String, media: String,
            segments: [Segment] = []
        ) {
            self.name = name
            self.isVideo = isVideo
            self.codec = codec
            self.timescale = timescale
            self.bandwidth = bandwidth
            self.width = width
            self.height = height
            self.segmentDuration = segmentDuration
            self.firstNumber = firstNumber
            self.initialization = initialization
            self.media = media
            self.segments = segments
        }
    }

    /// Whether it is complete (`static`); otherwise segments follow (`dynamic`).
    public var isComplete: Bool
    /// The wall-clock time of the presentation's time 0.
    public var start: WallTime
    /// When this version was written.
    public var publishedAt: WallTime
    /// The tracks, pictures first.
    public var tracks: [Track]

    /// Describes a presentation.
    public init(isComplete: Bool, start: WallTime, publishedAt: WallTime, tracks: [Track]) {
        self.isComplete = isComplete
        self.start = start
        self.publishedAt = publishedAt
        self.tracks = tracks
    }

    /// The media type of a presentation description (section C.1).
    public static let contentType = "application/dash+xml"

    /// The description, to be served as UTF-8.
    public var text: String {
        let longest = tracks.reduce(1) { max($0, $1.longestSegment) }
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
        text += "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" profiles=\"\(profile)\""
        text += " type=\"\(isComplete ? "static" : "dynamic")\" minBufferTime=\"\(Self.duration(longest))\""
        text += " publishTime=\"\(publishedAt.iso8601)\" availabilityStartTime=\"\(start.iso8601)\""
        if isComplete {
            let end = tracks.reduce(0) { max($0, $1.end) }
            text += " mediaPresentationDuration=\"\(Self.duration(end))\""
        } else {
            text += " minimumUpdatePeriod=\"\(Self.duration(longest))\""
        }
        text += ">\n <Period id=\"1\" start=\"PT0S\">\n"
        for (index, track) in tracks.enumerated() { text += track.text(id: index + 1, isComplete: isComplete) }
        return text + " </Period>\n</MPD>\n"
    }

    /// Templates are of the live profile, lists of the main profile (section 8).
    private var profile: String {
        isComplete && tracks.contains(where: \.hasHoles)
            ? "urn:mpeg:dash:profile:isoff-main:2011" : "urn:mpeg:dash:profile:isoff-live:2011"
    }

    static func duration(_ seconds: Double) -> String { "PT\(ManifestText.decimal(seconds))S" }
}

extension DASHManifest.Track {
    var longestSegment: Double {
        segments.reduce(segmentDuration) { max($0, Double($1.duration) / Double(max(1, timescale))) }
    }

    var end: Double {
        segments.reduce(0) { max($0, Double($1.time + $1.duration) / Double(max(1, timescale))) }
    }

    /// Whether a number is missing in between. A template counts on, so such a track needs a list.
    var hasHoles: Bool {
        zip(segments, segments.dropFirst()).contains { $1.number != $0.number + 1 }
    }

    func text(id: Int, isComplete: Bool) -> String {
        var text = "  <AdaptationSet id=\"\(id)\" contentType=\"\(isVideo ? "video" : "audio")\""
        text += " mimeType=\"\(isVideo ? "video" : "audio")/mp4\" segmentAlignment=\"true\" startWithSAP=\"1\">\n"
        text += "   <Representation id=\(ManifestText.attribute(name)) codecs=\(ManifestText.attribute(codec))"
        text += " bandwidth=\"\(max(1, bandwidth))\""
        if let width, let height { text += " width=\"\(width)\" height=\"\(height)\"" }
        text += ">\n"
        text += isComplete ? (hasHoles ? list : template(timeline: true)) : template(timeline: false)
        return text + "   </Representation>\n  </AdaptationSet>\n"
    }

    private func template(timeline: Bool) -> String {
        var text = "    <SegmentTemplate timescale=\"\(timescale)\""
        text += " initialization=\(ManifestText.attribute(initialization)) media=\(ManifestText.attribute(media))"
        text += " startNumber=\"\(timeline ? segments.first?.number ?? firstNumber : firstNumber)\""
        guard timeline else {
            let ticks = Int64((min(segmentDuration, 1e6) * Double(timescale)).rounded())
            return text + " duration=\"\(max(1, ticks))\"/>\n"
        }
        return text + ">\n" + timelineText + "    </SegmentTemplate>\n"
    }

    private var list: String {
        var text =
            "    <SegmentList timescale=\"\(timescale)\" startNumber=\"\(segments.first?.number ?? firstNumber)\">\n"
        text += "     <Initialization sourceURL=\(ManifestText.attribute(initialization))/>\n" + timelineText
        for segment in segments {
            text += "     <SegmentURL media=\(ManifestText.attribute(name(of: segment.number)))/>\n"
        }
        return text + "    </SegmentList>\n"
    }

    /// Runs of segments of one length are one element (section 5.3.9.6).
    private var timelineText: String {
        var text = "     <SegmentTimeline>\n"
        var index = 0
        while index < segments.count {
            let first = segments[index]
            var repeats = 0
            while index + repeats + 1 < segments.count {
                let next = segments[index + repeats + 1]
                let expected = first.time + Int64(repeats + 1) * first.duration
                guard next.duration == first.duration, next.time == expected else { break }
                repeats += 1
            }
            text += "      <S t=\"\(first.time)\" d=\"\(first.duration)\"\(repeats > 0 ? " r=\"\(repeats)\"" : "")/>\n"
            index += repeats + 1
        }
        return text + "     </SegmentTimeline>\n"
    }

    /// The name of a segment: the template with its number.
    func name(of number: Int) -> String {
        for (token, width) in [("$Number$", 1), ("$Number%04d$", 4), ("$Number%06d$", 6)] {
            guard let range = media.firstRange(of: token) else { continue }
            let digits = String(number)
            let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
            return media.replacingCharacters(in: range, with: padded)
        }
        return media
    }
}

extension String {
    fileprivate func firstRange(of token: String) -> Range<String.Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(token) { return start..<index(start, offsetBy: token.count) }
            start = index(after: start)
        }
        return nil
    }

    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
