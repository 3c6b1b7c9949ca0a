import Foundation

/// The streams of go2rtc. Each has a name and one or more sources, of which the first that fits is used there.
struct Go2RTCStreams {
    private let streams: [(key: String, value: ForeignNode)]
    private let sources: [String: [Located]]

    /// A source with its place in the file.
    struct Located {
        let source: CameraSource
        let place: ForeignNode
    }

    /// More streams than a home has cameras, and more sources than a stream has uses for, are ignored.
    private static let (maximumStreams, maximumSources) = (1_000, 16)

    /// - Parameter prepare: what happens to each source's text first.
    init(_ section: ForeignNode?, prepare: (String) -> String = { $0 }) {
        streams = Array((section?.entries ?? []).prefix(Self.maximumStreams))
        sources = Dictionary(
            streams.map { name, value in
                let elements = (value["url"].map { [$0] } ?? value.elements).prefix(Self.maximumSources)
                return (
                    name, elements.map { Located(source: Self.source(prepare($0.text ?? ""), of: name), place: $0) }
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The first URL of a stream, for a config that names the stream.
    func url(of name: String) -> Located? { sources[name]?.first { $0.source.host != nil } }

    func read(into builder: inout ConfigurationBuilder) {
        let small = smallStreams()
        for (name, place) in streams where small.values.contains(name) == false {
            read(name, at: place, substream: small[name], into: &builder)
        }
    }

    /// Streams that are the small one of another: their name is the other's with an ending, and the host is the same.
    private func smallStreams() -> [String: String] {
        var result: [String: String] = [:]
        for (name, _) in streams {
            for ending in ["_sub", "-sub", "_substream", "_low", "-low", "_lq", "_sd", "_small"]
            where name.hasSuffix(ending) {
                let large = String(name.dropLast(ending.count))
                guard result[large] == nil, let one = url(of: large)?.source, let other = url(of: name)?.source,
                    case .url(let address) = other.kind, address.isRTSP, one.host == other.host
                else { continue }
                result[large] = name
            }
        }
        return result
    }

    private func read(
        _ name: String, at place: ForeignNode, substream: String?, into builder: inout ConfigurationBuilder
    ) {
        let all = sources[name] ?? []
        var urls: [Located] = []
        var isPublished = all.isEmpty
        for located in all {
            for remark in located.source.remarks { builder.remark(remark, at: located.place) }
            switch located.source.kind {
            case .url: urls.append(located)
            case .publisher: isPublished = true
            case .stream(name): break  // go2rtc transcodes the stream's own sound or pictures there; so does Gatehouse.
            case .stream(let other):
                if let known = url(of: other) {
                    urls.append(known)
                } else {
                    builder.remark("the stream that this names has no address that Gatehouse reads", at: located.place)
                }
            case .unsupported(let reason): builder.remark(reason.advice, at: located.place)
            }
        }
        guard let main = urls.first, case .url(let address) = main.source.kind else {
            guard isPublished else {
                builder.remark("the camera is left out, because none of its sources can be read", at: place)
                return
            }
            builder.add(name: name, at: place, source: "whip")
            builder.remark("it waits for a publisher, who sends to /whip/ and the camera's key", at: place)
            return
        }
        var smaller = substream.flatMap { url(of: $0) }
        if let smaller { builder.remark("\(substream ?? "") is its substream now", at: smaller.place) }
        for other in urls.dropFirst() {
            if smaller == nil, case .url(let url) = other.source.kind, url.isRTSP, url != address {
                smaller = other
                builder.remark(
                    "this is the camera's substream now, for viewers who cannot play the first", at: other.place)
            } else if other.source.kind != main.source.kind, other.source.kind != smaller?.source.kind {
                builder.remark("a camera has one source and one substream; this one is left out", at: other.place)
            }
        }
        builder.add(name: name, at: place, source: address) { camera in
            if case .url(let url) = smaller?.source.kind { camera.substream = url }
            camera.transport = main.source.transport
            camera.isSilent = main.source.isSilent
        }
    }

    /// What Gatehouse makes of a source.
    static func source(_ text: String, of name: String) -> CameraSource {
        guard !text.isEmpty else { return CameraSource(.publisher) }
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        let address = parts[0].drop { $0 == " " }
        guard let scheme = CameraSource.scheme(of: address) else { return CameraSource(.unsupported(.unreadable)) }
        var source: CameraSource
        switch scheme {
        case "rtsp", "rtsps": source = url(address)
        case "rtspx":
            source = url("rtsps" + address.dropFirst(scheme.count))
        case "onvif":
            source = url(address.prefix { $0 != "?" })
            if address.contains("?") {
                source.remarks.append("the camera is asked which of its profiles browsers play best")
            }
        case "ffmpeg": return transcoded(address.dropFirst(scheme.count + 1), options: parts.dropFirst(), of: name)
        case "exec", "echo", "expr": return CameraSource(.unsupported(.program))
        default:
            guard let known = CameraSource.stream(address) ?? CameraSource.device(address) else {
                return CameraSource(.unsupported(.scheme(scheme)))
            }
            source = url(known[...])
        }
        for option in parts.dropFirst() { apply(option, to: &source) }
        return source
    }

    private static func apply(_ option: Substring, to source: inout CameraSource) {
        let pair = option.split(separator: "=", maxSplits: 1)
        switch (pair.first, pair.dropFirst().first) {
        case ("backchannel", "0"): source.isSilent = true
        case ("transport", "tcp"): source.transport = "tcp"
        case ("transport", "udp"): source.transport = "udp"
        case ("transport", .some): source.remarks.append("RTSP inside a WebSocket is not possible; transport is auto")
        default: break
        }
    }

    /// `ffmpeg:` in front of an address, or of the name of a stream.
    private static func transcoded(
        _ inner: Substring, options: ArraySlice<Substring>, of name: String
    ) -> CameraSource {
        if inner.hasPrefix("device?") || inner.hasPrefix("virtual") { return CameraSource(.unsupported(.program)) }
        guard let scheme = CameraSource.scheme(of: inner) else {
            return CameraSource(.stream(inner.prefix { $0 != "?" }.description))
        }
        guard ["rtsp", "rtsps"].contains(scheme) else { return CameraSource(.unsupported(.scheme(scheme))) }
        var source = url(inner)
        source.remarks.append("no ffmpeg is needed: Gatehouse transcodes by itself, and only while a viewer needs it")
        for option in options where option.hasPrefix("transport=") { apply(option, to: &source) }
        return source
    }

    /// An address whose `${NAME}` is a variable of the environment in both configs.
    private static func url(_ text: some StringProtocol) -> CameraSource {
        var result = ""
        var rest = String(text)[...]
        var remarks: [String] = []
        while let start = rest.range(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            let reference = rest[start.upperBound..<end]
            let variable = reference.prefix { $0 != ":" }
            result += rest[..<start.lowerBound] + "${\(variable)}"
            if variable != reference {
                remarks.append("set the variable \(variable) in the environment; its default is left out")
            }
            rest = rest[rest.index(after: end)...]
        }
        return CameraSource(.url(result + CameraSource.literal(String(rest))), remarks: remarks)
    }
}

extension String {
    /// Whether this is an RTSP URL.
    var isRTSP: Bool { hasPrefix("rtsp://") || hasPrefix("rtsps://") }
}
