import Cameras
import SDP

/// Explains descriptions. It says what the gateway does, because it asks ``LiveViewNegotiation`` and
/// ``PublisherNegotiation``, which answer offers, and `CameraOffering`, which the RTSP client uses to choose tracks.
public struct DescriptionExplainer: Sendable {
    /// Whether video that a viewer cannot play is transcoded to VP8.
    public var transcodesVideo: Bool

    /// - Parameter transcodesVideo: whether the config's `transcodeVideo` is `auto`, its default, or `true`.
    public init(transcodesVideo: Bool = true) {
        self.transcodesVideo = transcodesVideo
    }

    /// Explains a description.
    /// - Parameter reading: what it is; nil for what it looks like (``SDP/SessionDescription/likelyReading``).
    public func explain(
        _ description: SessionDescription, as reading: DescriptionReading? = nil
    ) -> DescriptionExplanation {
        var explanation =
            switch reading ?? description.likelyReading {
            case .viewer: explainViewer(description)
            case .publisher: explainPublisher(description)
            case .answer: explainAnswer(description)
            case .camera: explainCamera(description)
            }
        if reading == nil, explanation.endpoint == "whep", description.mayBeEitherOffer {
            let verdict = verdict(onPublisher: description)
            if verdict.fault == nil, !explanation.isUsable {
                explanation = explainPublisher(description)
            } else {
                explanation.lines.append(
                    "It also sends video, as a publisher's offer does. Use --as publisher to read it as one.")
                explanation.lines += verdict.lines
            }
        }
        if reading == nil, explanation.role == .offer, description.mayBeAnswer {
            explanation.lines.append(
                "It is read as an offer that has already chosen its DTLS role. Use --as answer to read it as an answer."
            )
        }
        for problem in description.problems { explanation.lines.append("Remark: \(problem)") }
        return explanation
    }

    /// The gateway's half of a transport, for trying offers.
    static let transport = LocalTransportDescription(
        usernameFragment: "none", password: "nonenonenonenonenonenone", fingerprints: [])

    /// The fault with the text of its line.
    static func fault(_ reason: String, line: Int?, in description: SessionDescription) -> SessionDescription.Problem {
        guard let line else { return .init(line: 0, text: "", reason: reason) }
        return .init(line: line, text: String(description.text(ofLine: line).prefix(200)), reason: reason)
    }

    // MARK: Answers

    private func explainAnswer(_ answer: SessionDescription) -> DescriptionExplanation {
        var lines = ["A WebRTC answer with \(Self.count(answer.media.count, "media section"))."]
        lines += answer.media.indices.map { Self.describe(answer, index: $0) }
        lines.append(Self.describe(answer.media.flatMap(\.candidates) + answer.candidates))
        let used = answer.media.indices.filter { index in
            let section = answer.media[index]
            return !section.isRejected && (section.kind == .audio || section.kind == .video)
        }
        var fault: SessionDescription.Problem?
        if used.isEmpty {
            fault = Self.fault(
                "every m= line for audio and video is rejected", line: answer.lineNumber(ofMediaAt: 0), in: answer)
        } else {
            do throws(NegotiationError) {
                let remote = try RemoteTransportDescription(answer, media: used)
                lines.append(
                    remote.setup == .active
                        ? "The answerer opens DTLS; the offerer waits for it."
                        : "The offerer opens DTLS; the answerer waits for it.")
            } catch {
                fault = Self.fault(error.reason, line: error.line, in: answer)
            }
        }
        return DescriptionExplanation(role: .answer, endpoint: nil, lines: lines, fault: fault)
    }

    // MARK: Words

    static func describe(_ description: SessionDescription, index: Int) -> String {
        let section = description.media[index]
        var parts: [String] = []
        if section.isRejected {
            parts.append("disabled")
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
            if all.contains(where: { $0.codec.isNamed("rtx") }) { parts.append("with retransmission streams") }
        } else if section.isDataChannel {
            parts.append("data channels")
        } else {
            parts.append("not supported by this gateway")
        }
        return capitalized(description.label(ofMediaAt: index)) + ": " + parts.joined(separator: "; ") + "."
    }

    static func describe(_ candidates: [ICECandidate]) -> String {
        guard !candidates.isEmpty else {
            return "No candidates: the address is learned from the first connectivity check."
        }
        let udp = candidates.filter { $0.transport == .udp && $0.component == 1 }
        let names = udp.filter(\.isMulticastDNSName)
        var text = "\(count(candidates.count, "candidate")), \(udp.count) of them over UDP for RTP"
        if !names.isEmpty { text += " (\(names.count) with mDNS names)" }
        return text + "."
    }

    static func count(_ number: Int, _ noun: String) -> String {
        number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
