/// Says in words what a description means for this gateway: what would play, what would not, and why.
public struct SDPExplanation: Hashable, Sendable, Codable {
    /// What the description is.
    public enum Role: String, Hashable, Sendable, Codable {
        /// A WebRTC offer.
        case offer
        /// A WebRTC answer.
        case answer
        /// A camera's description for RTSP.
        case camera
    }

    /// What the description is.
    public var role: Role
    /// The explanation, a sentence or a list item each.
    public var lines: [String]
    /// Why nothing of it can be used, and the line where that shows (0 for the description as a whole); nil for a usable
    /// description.
    public var fault: SessionDescription.Problem?

    /// Whether anything of the description can be used.
    public var isUsable: Bool { fault == nil }
}

/// Explains descriptions. What it says about an offer is what ``LiveViewAnswerer`` does with it, tried with cameras of each
/// usual codec.
public enum SDPExplainer {
    /// Explains a description.
    public static func explain(_ description: SessionDescription) -> SDPExplanation {
        let role = role(of: description)
        var explanation =
            switch role {
            case .offer: explainOffer(description)
            case .answer: explainAnswer(description)
            case .camera: explainCamera(description)
            }
        for problem in description.problems { explanation.lines.append("Remark: \(problem)") }
        return explanation
    }

    private static func role(of description: SessionDescription) -> SDPExplanation.Role {
        let levels: [any DescriptionSection] = description.media + [description]
        let isWebRTC =
            levels.contains { $0.iceUsernameFragment != nil || !$0.fingerprints.isEmpty || $0.setup != nil }
            || description.media.contains { $0.transportProtocol.uppercased().contains("TLS") }
        guard isWebRTC else { return .camera }
        let setups = levels.compactMap(\.setup)
        return !setups.isEmpty && !setups.contains(.actpass) && setups.contains { $0 == .active || $0 == .passive }
            ? .answer : .offer
    }

    // MARK: Offers

    private static let cameras: [(name: String, codec: MediaCodec)] = [
        ("VP8", .vp8),
        ("H.264 Constrained Baseline", .h264(profileLevelID: "42e01f")),
        ("H.264 Main", .h264(profileLevelID: "4d001f")),
        ("H.264 High, 1080p", .h264(profileLevelID: "640028")),
        ("H.265", MediaCodec(name: "H265", clockRate: 90000)),
    ]
    private static let microphones: [(name: String, codec: MediaCodec)] = [
        ("Opus", .opus), ("G.711 µ-law", .pcmu), ("G.711 A-law", .pcma),
        ("AAC", MediaCodec(name: "MPEG4-GENERIC", clockRate: 16000)),
    ]

    private static func explainOffer(_ offer: SessionDescription) -> SDPExplanation {
        var lines = ["A WebRTC offer with \(count(offer.media.count, "media description"))."]
        lines += offer.media.indices.map { describe(offer, index: $0) }
        let candidates = offer.media.flatMap(\.candidates) + offer.candidates
        lines.append(describe(candidates))
        var faults: [NegotiationError] = []
        var plays = 0
        for (kind, list) in [(MediaKind.video, cameras), (.audio, microphones)]
        where offer.media.contains(where: { $0.kind == kind }) {
            for (name, codec) in list {
                let track = LocalTrack(
                    kind: kind, codecs: [codec], ssrc: 1, rtxSSRC: kind == .video ? 2 : nil, cname: "-", streamID: "-",
                    trackID: "-")
                let what = "A camera with \(name) \(kind == .video ? "video" : "sound"): "
                do throws(NegotiationError) {
                    let session = try LiveViewAnswerer(local: transport, tracks: [track]).answer(offer)
                    guard let media = session.media.first else { continue }
                    plays += 1
                    var line = what + "plays as payload type \(media.payloadType)"
                    if let rtx = media.rtxPayloadType { line += ", repeated as \(rtx)" }
                    let label = offer.label(ofMediaAt: media.index) + ": "
                    if let note = session.notes.first(where: { $0.hasPrefix(label) }) {
                        line += " (\(note.dropFirst(label.count)))"
                    }
                    lines.append(line + ".")
                } catch {
                    faults.append(error)
                    lines.append(what + "does not play: \(reason(error, kind: kind)).")
                }
            }
        }
        let talks = offer.media.contains {
            $0.kind == .audio && !$0.isRejected && offer.direction(of: $0).sends
        }
        lines.append(
            talks
                ? "Talkback is possible: the viewer offers to send sound."
                : "Talkback is not possible: the viewer offers to send no sound.")
        guard plays == 0 else { return SDPExplanation(role: .offer, lines: lines, fault: nil) }
        let reason = faults.first.map(\.description) ?? "no m= line of audio or video"
        return SDPExplanation(role: .offer, lines: lines, fault: fault(reason, in: offer))
    }

    /// The reason, without what the lines before have said of every `m=` line.
    private static func reason(_ error: NegotiationError, kind: MediaKind) -> String {
        if case .codecMismatch = error { return "the viewer takes no such codec" }
        guard case .noUsableMedia(let reasons) = error else { return error.description }
        let own = reasons.filter { $0.contains("(\(kind.name)") }
        if !own.isEmpty, own.allSatisfy({ $0.contains("no codec in common") }) {
            return "the viewer takes no such codec"
        }
        return (own.isEmpty ? reasons : own).joined(separator: "; ")
    }

    private static let transport = LocalTransportDescription(
        usernameFragment: "none", password: "nonenonenonenonenonenone", fingerprints: [])

    // MARK: Answers

    private static func explainAnswer(_ answer: SessionDescription) -> SDPExplanation {
        var lines = ["A WebRTC answer with \(count(answer.media.count, "media description"))."]
        lines += answer.media.indices.map { describe(answer, index: $0) }
        lines.append(describe(answer.media.flatMap(\.candidates) + answer.candidates))
        let used = answer.media.filter { !$0.isRejected && ($0.kind == .audio || $0.kind == .video) }
        var reason: String?
        if used.isEmpty {
            reason = "every m= line of audio and video is rejected"
        } else {
            do throws(NegotiationError) {
                let remote = try RemoteTransportDescription(answer, sections: used)
                lines.append(
                    remote.setup == .active
                        ? "The answerer opens DTLS; the offerer waits for it."
                        : "The offerer opens DTLS; the answerer waits for it.")
            } catch {
                reason = error.description
            }
        }
        return SDPExplanation(role: .answer, lines: lines, fault: reason.map { fault($0, in: answer) })
    }

    // MARK: Cameras

    private static func explainCamera(_ description: SessionDescription) -> SDPExplanation {
        var lines = ["A camera's description with \(count(description.media.count, "media description"))."]
        let tracks = description.cameraTracks
        let used = description.liveViewTracks
        for index in description.media.indices {
            let label = capitalized(description.label(ofMediaAt: index)) + ": "
            guard let track = tracks.first(where: { $0.index == index }) else {
                let kind = description.media[index].kind
                lines.append(
                    label
                        + (kind == .audio || kind == .video
                            ? "not used, since no codec of it can be read." : "not used; only audio and video are."))
                continue
            }
            let names = track.payloads.map { "\($0.codec.summary) as payload type \($0.payloadType)" }
            if track.role == .speaker {
                lines.append(label + "the camera's speaker, which takes " + names.joined(separator: ", ") + ".")
                continue
            }
            var line = label + names[0]
            if used.contains(track) {
                line += ", passed on to viewers as it is"
                if track.codec.isNamed("H265") || track.codec.isNamed("VP9") {
                    line += " where they offer it; others get VP8 with `transcodeVideo: true`"
                }
                if track.codec.isNamed("H264"), H264Profile(track.codec.formatParameters) == nil {
                    line += " (its profile is not told; B-frames would not play in browsers)"
                }
            } else if track.codec.passThroughRank == nil {
                line += words(forTranscoding: track.codec)
            } else {
                line += ", not used, since another track of the same kind is"
            }
            lines.append(line + ".")
        }
        let reason =
            description.media.isEmpty
            ? "there is no m= line"
            : "no track has a codec that viewers take or that can be made into one (H264, H265, VP8, VP9, JPEG, opus, "
                + "PCMU, PCMA, AAC, L16, G726)"
        let isUsable = tracks.contains { $0.role == .source && $0.codec.isOfUse }
        return SDPExplanation(
            role: .camera, lines: lines, fault: isUsable ? nil : fault(reason, in: description))
    }

    private static func words(forTranscoding codec: MediaCodec) -> String {
        if codec.isTranscodableSound { return ", made Opus for viewers" }
        if codec.isTranscodableVideo { return ", not played as it is: viewers get VP8 with `transcodeVideo: true`" }
        return ", not played: browsers take none of it as it is"
    }

    // MARK: Words

    private static func describe(_ description: SessionDescription, index: Int) -> String {
        let section = description.media[index]
        var parts: [String] = []
        if section.isRejected {
            parts.append("switched off")
        } else if section.kind == .audio || section.kind == .video {
            switch description.direction(of: section) {
            case .sendrecv: parts.append("sends and receives")
            case .sendonly: parts.append("sends only")
            case .recvonly: parts.append("receives only")
            case .inactive: parts.append("neither sends nor receives")
            }
            let all = section.payloads
            let payloads = all.filter { !$0.codec.isAuxiliary }
            parts.append(
                payloads.isEmpty
                    ? "no codec" : payloads.map { "\($0.payloadType) \($0.codec.summary)" }.joined(separator: ", "))
            if !all.retransmissions.isEmpty { parts.append("with retransmission streams") }
        } else {
            parts.append("not carried by this gateway")
        }
        return capitalized(description.label(ofMediaAt: index)) + ": " + parts.joined(separator: "; ") + "."
    }

    private static func describe(_ candidates: [ICECandidate]) -> String {
        guard !candidates.isEmpty else {
            return "No candidates: the address is learned from the first connectivity check."
        }
        let udp = candidates.filter { $0.transport == .udp && $0.component == 1 }
        let names = udp.filter(\.isMulticastDNSName)
        var text = "\(count(candidates.count, "candidate")), \(udp.count) of them over UDP for RTP"
        if !names.isEmpty { text += " (\(names.count) with mDNS names, which are not resolved)" }
        return text + "."
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    private static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    /// The fault with the line that shows it best: the first problem, or the first `m=` line.
    private static func fault(_ reason: String, in description: SessionDescription) -> SessionDescription.Problem {
        guard let media = description.media.first else {
            return .init(line: 0, text: "", reason: reason)
        }
        return .init(line: description.lines.count + 1, text: media.mediaLine, reason: reason)
    }
}
