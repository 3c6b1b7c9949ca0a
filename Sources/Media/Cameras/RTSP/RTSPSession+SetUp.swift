import RTP
import RTSP
import SDP
import Transport

extension RTSPSession {
    mutating func describe(_ text: String, baseURI: String, _ output: inout SourceOutput, at now: Instant) {
        do throws(SDPError) {
            let camera = try CameraDescription(parsing: text, baseURI: baseURI, address: url)
            learnDescription(camera, output)
            if let refusal = camera.refusal { return fail(refusal, kind: .mediaRefused) }
            requested = camera.tracks
            described = camera
            output.tell(.settingUp)
            guard carriage != .udp || bindPairs() else {
                fail("no pair of UDP ports is free")
                return
            }
            // The speaker's track comes last, and goes over the connection whatever the others' transport.
            let speaker = talk?.choose(from: text, baseURI: baseURI, url: url, as: camera.tracks.count)
            requestedChannels = Self.channels(of: camera)
            client.setUp(
                camera.tracks.map(\.controlURI) + [speaker].compactMap(\.self), presentationURI: camera.presentationURI,
                clientPorts: pairs.map(\.port), channels: requestedChannels, at: now)
        } catch {
            fail("the camera's description cannot be read: \(error)", kind: .mediaRefused)
        }
    }

    private func learnDescription(_ camera: CameraDescription, _ output: SourceOutput) {
        let findings = output.findings
        findings.note(camera.notes)
        if let authentication = client.authenticationInUse {
            findings.logins.withLock { $0.succeed() }
            let avoidsDigest = client.avoidsDigest
            findings.learn { profile in
                profile.authentication = authentication
                guard authentication == "Basic" else {
                    profile.quirks.remove(.brokenDigest)
                    return
                }
                if avoidsDigest { profile.quirks.insert(.brokenDigest) }
            }
            if authentication != "Basic" { findings.noteDigest() }
        }
        guard asksForBackChannel else { return }
        if camera.backChannel == nil, let featureRefusal {
            findings.inquire { $0.refuse(featureRefusal, $1) }
            return
        }
        findings.set(camera.backChannel)
        let support = camera.backChannel == nil ? CameraProfile.BackChannelSupport.absent : .described
        findings.inquire { inquiry, _ in
            inquiry.answer()
            return support
        }
    }

    /// The channels to ask for, the last one for a speaker; empty for the usual ones. A camera that names no control
    /// for several tracks can distinguish them only by their position in the session description.
    private static func channels(of camera: CameraDescription) -> [UInt8] {
        guard camera.hasSharedControl else { return [] }
        let positions = camera.tracks.map { UInt8(clamping: $0.mediaIndex * 2) }
        return positions + [(positions.max() ?? 0) &+ 2]
    }

    /// A pair of ports for each track.
    private mutating func bindPairs() -> Bool {
        for track in requested {
            guard
                let pair = DatagramPair(
                    camera: connection.address, clockRate: track.description.codec.clockRate,
                    maximumDelay: configuration.reorderDelay)
            else { return false }
            pairs.append(pair)
        }
        return true
    }

    /// The camera sends a track over the connection.
    mutating func agree(_ track: Int, media: UInt8, control: UInt8, _ output: SourceOutput) {
        guard requested.indices.contains(track) else { return }
        agreed.append((track, .channels(media: media, control: control)))
        let isOther = media != (requestedChannels.indices.contains(track) ? requestedChannels[track] : UInt8(track * 2))
        let isUnasked = carriage == .udp
        output.findings.learn { profile in
            if isUnasked { profile.quirks.insert(.connectionInsteadOfDatagrams) }
            if isOther, !isUnasked { profile.quirks.insert(.otherChannels) }
        }
    }

    /// The camera sends a track over UDP.
    mutating func agree(_ track: Int, _ transport: TransportHeader, _ output: SourceOutput) {
        guard requested.indices.contains(track), pairs.indices.contains(track) else { return }
        agreed.append((track, .datagrams(pairs[track])))
        pairs[track].open(transport, ssrc: ssrc)
        if transport.serverPort == nil { output.findings.learn { $0.quirks.insert(.missingServerPort) } }
    }

    mutating func beginPlaying(_ output: inout SourceOutput, _ random: inout RandomSource, at now: Instant) {
        guard !agreed.isEmpty else {
            return fail("the camera accepts sound but sends no media", kind: .tracksRefused)
        }
        // Tracks are numbered as they are announced. Those that the camera refused do not count.
        for (index, track) in agreed.enumerated() {
            guard case .channels(let media, let control) = track.carrier else { continue }
            // A camera that names the same channels for every track sends them all there. Their payload types
            // distinguish them.
            if case .media = channels[Int(media)] {
                sharesChannels = true
                continue
            }
            channels[Int(media)] = .media(track: index)
            if control != media { channels[Int(control)] = .control(track: index) }
        }
        // Such a camera may use the channels in an order other than the requested one.
        let payloadTypes = agreed.map { requested[$0.track].description.payloadType }
        if !requestedChannels.isEmpty, Set(payloadTypes).count == payloadTypes.count { sharesChannels = true }
        states = agreed.map { TrackState(carrier: $0.carrier) }
        // Ports that no track uses are closed: nothing would read them, and a datagram that waits there would keep the
        // thread awake forever.
        pairs = agreed.compactMap { if case .datagrams(let pair) = $0.carrier { pair } else { nil } }
        output.announce(
            agreed.map { requested[$0.track] }, limit: configuration.maximumPayloadLength, random: &random, at: now)
        for index in states.indices where output.descriptions.indices.contains(index) {
            let codec = output.descriptions[index].codec
            states[index].hasProfile =
                switch codec.name.lowercased() {
                case "h264": codec.formatParameters["profile-level-id"] != nil
                case "h265": codec.formatParameters["profile-id"] != nil
                default: true
                }
        }
        if let described { output.findings.note(described.notes) }
        let (used, keepAlive) = (carriageInUse, client.keepAliveInUse)
        output.findings.use { transport in
            transport.carriage = used
            transport.keepAlive = keepAlive
        }
        output.tell(.playing)
        playingSince = now
        nextReport = now + Self.reportInterval
    }

    /// The transport of the first track.
    var carriageInUse: CameraProfile.Carriage {
        guard carriage == .udp, case .channels? = agreed.first?.carrier else { return carriage }
        return .tcp
    }
}
