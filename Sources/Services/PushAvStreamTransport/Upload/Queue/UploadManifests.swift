import FragmentedMP4
import Transport

/// The text of a session's manifests. It depends on nothing but the session and its segments, so the same manifest is the
/// same text after a restart.
struct UploadManifests {
    let session: UploadSession
    /// The segments that the receiver has, by track, in their order.
    let segments: [[UploadSegment]]

    /// The text of an item; nil for one that is not a manifest.
    func text(of item: UploadItem) -> String? {
        switch item {
        case .manifest:
            session.destination.interface == .hls ? multivariant.text : presentation(isComplete: false).text
        case .finalManifest: presentation(isComplete: true).text
        case .playlist(let track): playlist(track, isComplete: false).text
        case .finalPlaylist(let track): playlist(track, isComplete: true).text
        case .initialization, .segment: nil
        }
    }

    private var segmentSeconds: Double { Double(max(1, session.destination.segmentDuration)) / 1_000 }
    private var start: WallTime { WallTime(millisecondsSince1970: session.id.start) }

    private var end: WallTime {
        var last = start
        for (track, segments) in zip(session.tracks, segments) {
            guard let segment = segments.last else { continue }
            let milliseconds = Double(segment.duration) * 1_000 / Double(max(1, track.timescale))
            let end = WallTime(millisecondsSince1970: segment.capturedAt / 1_000)
                .advanced(byMilliseconds: Int64(min(max(milliseconds, 0), 1e12)))
            last = max(last, end)
        }
        return last
    }

    /// Sound belongs to the pictures; without pictures it is what there is to choose.
    private var multivariant: HLSMultivariantPlaylist {
        let indices = session.tracks.indices
        let pictures = indices.filter { session.tracks[$0].isVideo }
        let sound = indices.filter { !session.tracks[$0].isVideo }
        let soundBandwidth = sound.map(bandwidth).max() ?? 0
        func variant(_ track: Int, withSound: Bool) -> HLSMultivariantPlaylist.Variant {
            let described = session.tracks[track]
            var codecs = [described.codec]
            for other in withSound ? sound.map({ session.tracks[$0].codec }) : [] where !codecs.contains(other) {
                codecs.append(other)
            }
            var resolution: (width: Int, height: Int)?
            if let width = described.width, let height = described.height { resolution = (width, height) }
            return .init(
                uri: "\(session.name(of: track))/index.m3u8",
                bandwidth: bandwidth(of: track) + (withSound ? soundBandwidth : 0), codecs: codecs,
                resolution: resolution, audioGroup: withSound ? "audio" : nil)
        }
        guard !pictures.isEmpty else { return .init(variants: sound.map { variant($0, withSound: false) }) }
        return .init(
            variants: pictures.map { variant($0, withSound: !sound.isEmpty) },
            renditions: sound.enumerated().map {
                .init(
                    group: "audio", name: session.tracks[$1].name, uri: "\(session.name(of: $1))/index.m3u8",
                    isDefault: $0 == 0)
            })
    }

    private func playlist(_ track: Int, isComplete: Bool) -> HLSMediaPlaylist {
        let name = session.name(of: track)
        var playlist = HLSMediaPlaylist(
            kind: isComplete ? .complete : .live, isEnded: isComplete, targetDuration: segmentSeconds,
            mediaSequence: UploadItem.firstSegmentNumber, initialization: .init(uri: "\(name).init"))
        guard isComplete, session.tracks.indices.contains(track) else { return playlist }
        let timescale = Double(max(1, session.tracks[track].timescale))
        var expected: Int64?
        for segment in segments[track] {
            playlist.segments.append(
                .init(
                    uri: UploadItem.segmentName(segment.number), duration: Double(segment.duration) / timescale,
                    capturedAt: WallTime(millisecondsSince1970: segment.capturedAt / 1_000),
                    isDiscontinuous: expected.map { $0 != segment.decodeTime } ?? false))
            expected = segment.decodeTime + segment.duration
        }
        playlist.mediaSequence =
            segments[track].first.map { Int($0.number) + UploadItem.firstSegmentNumber - 1 } ?? playlist.mediaSequence
        return playlist
    }

    private func presentation(isComplete: Bool) -> DASHManifest {
        DASHManifest(
            isComplete: isComplete, start: start, publishedAt: isComplete ? end : start,
            tracks: session.tracks.indices.map { index in
                let track = session.tracks[index]
                let name = session.name(of: index)
                return .init(
                    name: name, isVideo: track.isVideo, codec: track.codec, timescale: track.timescale,
                    bandwidth: bandwidth(of: index), width: track.width, height: track.height,
                    segmentDuration: segmentSeconds, firstNumber: UploadItem.firstSegmentNumber,
                    initialization: "\(name)/\(name).init", media: "\(name)/segment_$Number%04d$.m4s",
                    segments: isComplete
                        ? segments[index].map {
                            .init(
                                number: Int($0.number) + UploadItem.firstSegmentNumber - 1, time: $0.decodeTime,
                                duration: $0.duration)
                        } : [])
            })
    }

    /// The rate of a track in bits per second: the highest of its segments. The manifests that precede the segments state
    /// an estimate, because they must name a rate: two bits for each pixel and second, 64 kbit/s for sound.
    private func bandwidth(of index: Int) -> Int {
        let track = session.tracks[index]
        let highest = segments[index].reduce(0.0) { highest, segment in
            let seconds = Double(max(1, segment.duration)) / Double(max(1, track.timescale))
            return max(highest, Double(segment.byteCount) * 8 / seconds)
        }
        if highest > 0 { return Int(min(highest, 1e12).rounded(.up)) }
        guard track.isVideo else { return 64_000 }
        let pixels = max(0, min(track.width ?? 1_280, 16_384)) * max(0, min(track.height ?? 720, 16_384))
        return max(256_000, pixels * 2)
    }
}
