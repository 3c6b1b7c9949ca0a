import Cameras
import SDP
import Stations

extension DescriptionExplainer {
    func explainCamera(_ description: SessionDescription) -> DescriptionExplanation {
        let offering = CameraOffering(description)
        let layout = TrackLayout(
            camera: "camera", tracks: offering.tracks, transcodesVideo: transcodesVideo ? .automatic : .never)
        let ranked = LiveViewNegotiation.ranked(layout.tracks, hint: nil)
        var lines = ["A camera's description with \(Self.count(description.media.count, "media section"))."]
        for (index, verdict) in offering.verdicts.enumerated() {
            let label = Self.capitalized(description.label(ofMediaAt: index)) + ": "
            switch verdict {
            case .left(let reason): lines.append(label + "not used; it \(reason).")
            case .speaker(let payloads):
                let names = payloads.map { "\($0.codec.summary) as payload type \($0.payloadType)" }
                lines.append(label + "the camera's speaker, which accepts \(names.joined(separator: ", ")).")
            case .pulled(let position):
                let track = layout.tracks[position]
                var line = label + "\(track.description.codec.summary) as payload type "
                line += "\(track.description.payloadType)" + words(for: track, layout)
                // Viewers that can play it get the first track of a kind.
                let best = ranked.first { $0.description.kind == track.description.kind }
                if let best, best.position != position {
                    let first = description.label(ofMediaAt: offering.mediaIndices[best.position])
                    line += "; used where a viewer cannot play \(first)"
                }
                lines.append(line + ".")
            }
        }
        lines += layout.faults.map { $0.words + "." }
        guard let refusal = offering.refusal else {
            return DescriptionExplanation(role: .camera, endpoint: nil, lines: lines, fault: nil)
        }
        let media = description.media.firstIndex { $0.kind == .video || $0.kind == .audio } ?? 0
        return DescriptionExplanation(
            role: .camera, endpoint: nil, lines: lines,
            fault: Self.fault(refusal.words, line: description.lineNumber(ofMediaAt: media), in: description))
    }

    /// How a track reaches viewers.
    private func words(for track: StationTrack, _ layout: TrackLayout) -> String {
        let codec = track.description.codec
        let made = layout.tracks.first { $0.derivedFrom == track.id }?.description.codec.name
        guard codec.passThroughRank != nil else {
            if let made { return ", transcoded to \(made == "opus" ? "Opus" : made) for viewers" }
            return codec.isTranscodableVideo
                ? ", not passed through: viewers get VP8 with `transcodeVideo: auto`"
                : ", not played: the gateway cannot transcode it"
        }
        var text = ", passed through to viewers"
        // Every browser plays the others.
        if codec.isVideo, !codec.isNamed("H264"), !codec.isNamed("VP8") {
            text += " that offer it; others get "
            text += made ?? (codec.isTranscodableVideo ? "VP8 with `transcodeVideo: auto`" : "no picture")
        }
        if codec.isNamed("H264"), H264Profile(codec.formatParameters) == nil {
            text += " (its profile is not stated; B-frames would not play in browsers)"
        }
        return text
    }
}
