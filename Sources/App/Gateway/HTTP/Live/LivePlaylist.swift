import PushAvStreamTransport

/// The playlist of a live stream (draft-pantos-hls-rfc8216bis, section 4.4).
enum LivePlaylist {
    /// For so many of the newest segments, the parts are named as well.
    static let segmentsWithParts = 3

    /// The playlist.
    /// - Parameter query: what the addresses of the files end with: the choice of the stream, and the token.
    static func text(_ content: LiveWindow.Content, query: String) -> String {
        let partTarget = max(0.5, content.longestPart)
        // Rounded to whole seconds, as the standard has it; it must not become smaller.
        let target = max(2, Int(content.longestSegment.rounded(.up)))
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:\(target)",
            "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=\(seconds(partTarget * 3))",
            "#EXT-X-PART-INF:PART-TARGET=\(seconds(partTarget))",
            "#EXT-X-MEDIA-SEQUENCE:\(content.segments.first?.number ?? 0)",
            "#EXT-X-DISCONTINUITY-SEQUENCE:\(content.discontinuities)", "#EXT-X-INDEPENDENT-SEGMENTS",
        ]
        var header: UInt64?
        for (index, segment) in content.segments.enumerated() {
            // The tag stays as long as the segment, or the later segments would change their discontinuity sequence number.
            if segment.isDiscontinuous { lines.append("#EXT-X-DISCONTINUITY") }
            if segment.header != header {
                lines.append("#EXT-X-MAP:URI=\"live/init-\(segment.header).mp4\(query)\"")
                header = segment.header
            }
            if index + segmentsWithParts >= content.segments.count {
                for (number, part) in segment.parts.enumerated() {
                    lines.append(
                        "#EXT-X-PART:DURATION=\(seconds(part.duration)),"
                            + "URI=\"live/\(segment.number).\(number).m4s\(query)\""
                            + (part.isIndependent ? ",INDEPENDENT=YES" : ""))
                }
            }
            if segment.isComplete {
                lines += ["#EXTINF:\(seconds(segment.duration)),", "live/\(segment.number).m4s\(query)"]
            }
        }
        let next = content.next
        lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"live/\(next.segment).\(next.part).m4s\(query)\"")
        return lines.joined(separator: "\n") + "\n"
    }

    /// A number of seconds with three digits.
    private static func seconds(_ value: Double) -> String {
        let thousandths = Int((max(value, 0) * 1_000).rounded())
        let rest = String(thousandths % 1_000)
        return "\(thousandths / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

/// A file of a live stream, by its name in the playlist.
enum LiveFile: Equatable {
    case header(UInt64)
    case segment(UInt64)
    case part(UInt64, Int)

    init?(_ name: String) {
        if name.hasPrefix("init-"), name.hasSuffix(".mp4"),
            let number = Self.number(name.dropFirst(5).dropLast(4)).flatMap({ UInt64(exactly: $0) })
        {
            self = .header(number)
            return
        }
        guard name.hasSuffix(".m4s") else { return nil }
        let numbers = name.dropLast(4).split(separator: ".", omittingEmptySubsequences: false).map { Self.number($0) }
        switch (numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
        case (1, let segment?, _): self = .segment(UInt64(segment))
        case (2, let segment?, let part?): self = .part(UInt64(segment), part)
        default: return nil
        }
    }

    /// A number as the playlist writes it.
    static func number(_ text: Substring) -> Int? {
        guard (1...15).contains(text.utf8.count), let number = Int(text), number >= 0, "\(number)" == text else {
            return nil
        }
        return number
    }
}
