import Foundation

/// The streams of go2rtc. Each has a name and one or more sources, of which the first that fits is used there.
struct Go2RTCStreams {
    private let streams: [(key: String, value: ForeignNode)]
    private let sources: [String: [Located]]
    /// The port at which go2rtc serves the streams over RTSP.
    private let port: Int

    /// A source with its place in the file.
    struct Located {
        let source: CameraSource
        let place: ForeignNode
    }

    /// More streams than a home has cameras, and more sources than a stream has uses for, are ignored.
    private static let (maximumStreams, maximumSources) = (1_000, 16)

    /// - Parameters:
    ///   - port: the port at which go2rtc serves the streams over RTSP.
    ///   - prepare: what happens to each source's text first.
    init(
        _ section: ForeignNode?, port: Int = Go2RTCImport.standardRTSPPort, prepare: (String) -> String = { $0 }
    ) {
        streams = Array((section?.entries ?? []).prefix(Self.maximumStreams))
        sources = Dictionary(
            streams.map { name, value in
                let elements = (value["url"].map { [$0] } ?? value.elements).prefix(Self.maximumSources)
                return (
                    name,
                    elements.map { Located(source: Self.source(prepare($0.text ?? ""), port: port), place: $0) }
                )
            }, uniquingKeysWith: { first, _ in first })
        self.port = port
    }

    /// The stream's name in an address at which go2rtc itself serves it; nil for any other address.
    func ownStream(_ address: String) -> String? { CameraSource.ownStream(address[...], port: port) }

    /// What a stream shows, for a config that names the stream: RTSP before JPEG pictures. Streams that name one another are
    /// followed, eight of them at most.
    func url(of name: String) -> Located? {
        var seen: Set<String> = []
        var waiting = [name]
        while seen.count < 8, let next = waiting.popLast() {
            guard seen.insert(next).inserted, let all = sources[next] else { continue }
            let own = all.filter { $0.source.url != nil }
            if let found = own.first(where: { !$0.source.isPictures }) ?? own.first { return found }
            waiting += all.reversed().compactMap(\.source.reference)
        }
        return nil
    }

    /// Why a stream has nothing to show, for a config that names the stream.
    func reason(of name: String) -> CameraSource.Reason {
        guard let all = sources[name] else { return .missingStream }
        for located in all {
            if case .unsupported(let reason) = located.source.kind { return reason }
        }
        return isPublished(name) ? .publisher : .missingStream
    }

    private func isPublished(_ name: String) -> Bool {
        guard let all = sources[name] else { return false }
        return all.isEmpty || all.contains { $0.source.kind == .publisher }
    }

    func read(into builder: inout ConfigurationBuilder) {
        let small = smallStreams(into: &builder)
        let substreams = Set(small.values)
        for (name, place) in streams where !substreams.contains(name) {
            if let other = original(of: name) {
                builder.remark(
                    "this is the stream \(other) in another form. Gatehouse transcodes automatically, so there is one "
                        + "camera, and programs read \(other) instead", at: place)
            } else {
                read(name, at: place, substream: small[name], into: &builder)
            }
        }
    }

    /// Says which streams no camera of the config shows.
    /// - Parameter isShown: whether a camera shows a URL.
    func remarkOnOthers(into builder: inout ConfigurationBuilder, isShown: (String) -> Bool) {
        for (name, place) in streams {
            if let found = url(of: name)?.source.url, isShown(found) { continue }
            builder.remark(
                "no imported camera reads this stream, so it is left out; write a camera with its address as source",
                at: place)
        }
    }

    /// The stream that a stream shows in another form, if it shows nothing else: `yard_h264: ffmpeg:yard#video=h264`.
    private func original(of name: String) -> String? {
        let others = Set((sources[name] ?? []).map { $0.source.reference ?? "" }).subtracting([name])
        guard others.count == 1, let other = others.first, url(of: other) != nil || isPublished(other)
        else { return nil }
        return other
    }

    /// Endings of the names of small streams, and of the large ones beside them.
    private static let (smallEndings, largeEndings) = (
        ["sub", "substream", "low", "lq", "sd", "small"], ["main", "mainstream", "high", "hq", "hd", "large"]
    )

    /// Streams that are the small one of another, by the large one's name. Their names differ in an ending, as `front` and
    /// `front_sub` do, or `front_main` and `front_sub`, and the host is the same.
    private func smallStreams(into builder: inout ConfigurationBuilder) -> [String: String] {
        let names = Dictionary(streams.map { ($0.key.lowercased(), $0.key) }, uniquingKeysWith: { first, _ in first })
        var result: [String: String] = [:]
        for (name, place) in streams where original(of: name) == nil {
            let lower = name.lowercased()
            for separator in ["_", "-"] {
                guard let ending = Self.smallEndings.first(where: { lower.hasSuffix(separator + $0) }) else { continue }
                let stem = String(lower.dropLast(ending.count + 1))
                let larger = [stem] + Self.largeEndings.map { stem + separator + $0 }
                for large in larger.compactMap({ names[$0] })
                where result[large] == nil && original(of: large) == nil {
                    guard let one = url(of: large)?.source, let other = url(of: name)?.source,
                        let address = other.url, let host = one.host, host == other.host, one.url != address
                    else { continue }
                    guard one.canHaveSubstream, address.isRTSP else {
                        builder.remark(
                            "this is a camera of its own: only a camera with RTSP or ONVIF can have a substream, which has an "
                                + "RTSP address", at: place)
                        break
                    }
                    result[large] = name
                    break
                }
            }
        }
        // A small stream that has a small one itself stays a camera.
        let both = Set(result.keys).intersection(result.values)
        return result.filter { !both.contains($0.value) }
    }

    private func read(
        _ name: String, at place: ForeignNode, substream: String?, into builder: inout ConfigurationBuilder
    ) {
        let all = sources[name] ?? []
        var urls: [Located] = []
        for located in all {
            for remark in located.source.remarks { builder.remark(remark, at: located.place) }
            switch located.source.kind {
            case .url: urls.append(located)
            case .publisher: break
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
        let index = urls.firstIndex { !$0.source.isPictures } ?? urls.startIndex
        guard urls.indices.contains(index), let address = urls[index].source.url else {
            guard isPublished(name) else {
                builder.remark("the camera is left out, because none of its sources can be read", at: place)
                return
            }
            builder.add(name: name, at: place, source: "publisher")
            builder.remark(ConfigurationBuilder.publisherRemark, at: place)
            return
        }
        let main = urls.remove(at: index)
        var smaller = substream.flatMap { url(of: $0) }
        if let smaller {
            builder.remark("\(substream ?? "") is the substream of the camera \(name) now", at: smaller.place)
        }
        for other in urls {
            if smaller == nil, let url = other.source.url, url.isRTSP, url != address, main.source.canHaveSubstream {
                smaller = other
                builder.remark(
                    "this is the camera's substream now, for viewers who cannot play the first", at: other.place)
            } else if other.source.kind != main.source.kind, other.source.kind != smaller?.source.kind {
                builder.remark("a camera has one source and one substream; this one is left out", at: other.place)
            }
        }
        builder.add(name: name, at: place, source: address) { camera in
            camera.substream = smaller?.source.url
            camera.transport = main.source.transport
            camera.isSilent = main.source.isSilent
        }
    }
}

extension String {
    /// Whether this is an RTSP URL.
    var isRTSP: Bool { hasPrefix("rtsp://") || hasPrefix("rtsps://") }
}
