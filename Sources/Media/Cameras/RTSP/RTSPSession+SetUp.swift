import RTP
import RTSP
import SDP
import Transport

extension RTSPSession {
    mutating func describe(_ text: String, baseURI: String, _ output: inout SourceOutput, at now: Instant) {
        guard case .describing(let featureRefusal) = stage else { return }
        do throws(SDPError) {
            let camera = try CameraDescription(parsing: text, baseURI: baseURI, address: url)
            learnDescription(camera, featureRefusal, output)
            if let refusal = camera.refusal { return fail(refusal, kind: .mediaRefused) }
            var agreement = TrackAgreement(camera: camera, channels: TrackAgreement.channels(of: camera))
            stage = .settingUp(agreement)
            output.report(.settingUp)
            if transport == .udp {
                guard let pairs = bindPairs(for: camera.tracks) else { return fail(.noPorts) }
                agreement.pairs = pairs
                stage = .settingUp(agreement)
            }
            // The speaker's track comes last, and goes over the connection whatever the others' transport.
            let speaker = talk?.choose(from: text, baseURI: baseURI, url: url, as: camera.tracks.count)
            driver.client.setUp(
                camera.tracks.map(\.controlURI) + [speaker].compactMap(\.self), presentationURI: camera.presentationURI,
                clientPorts: agreement.pairs.map(\.port), channels: agreement.channels, at: now)
        } catch {
            fail(.unreadableDescription(error), kind: .mediaRefused)
        }
    }

    private func learnDescription(_ camera: CameraDescription, _ featureRefusal: Int?, _ output: SourceOutput) {
        let findings = output.findings
        findings.record(camera.notes)
        findings.learnLogin(from: driver.client)
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

    /// A pair of ports for each track; nil where the system has none left.
    private func bindPairs(for tracks: [CameraDescription.Track]) -> [DatagramPair]? {
        var pairs: [DatagramPair] = []
        for track in tracks {
            guard
                let pair = DatagramPair(
                    camera: driver.address, clockRate: track.description.codec.clockRate,
                    maximumDelay: configuration.reorderDelay)
            else { return nil }
            pairs.append(pair)
        }
        return pairs
    }

    /// The camera sends a track over the connection.
    mutating func agree(_ track: Int, media: UInt8, control: UInt8, _ output: SourceOutput) {
        guard case .settingUp(var agreement) = stage, agreement.camera.tracks.indices.contains(track) else { return }
        agreement.agreed.append((track, .channels(media: media, control: control)))
        stage = .settingUp(agreement)
        let requested = agreement.channels.indices.contains(track) ? agreement.channels[track] : UInt8(track * 2)
        let isUnasked = transport == .udp
        output.findings.learn { profile in
            if isUnasked { profile.quirks.insert(.connectionInsteadOfDatagrams) }
            if media != requested, !isUnasked { profile.quirks.insert(.otherChannels) }
        }
    }

    /// The camera sends a track over UDP.
    mutating func agree(_ track: Int, _ transport: TransportHeader, _ output: SourceOutput) {
        guard case .settingUp(var agreement) = stage, agreement.pairs.indices.contains(track) else { return }
        agreement.agreed.append((track, .datagrams(agreement.pairs[track])))
        stage = .settingUp(agreement)
        agreement.pairs[track].open(transport, ssrc: ssrc)
        if transport.serverPort == nil { output.findings.learn { $0.quirks.insert(.missingServerPort) } }
    }

    /// The camera does not send a track.
    mutating func leaveOut(_ track: Int, _ reason: RTSPError) {
        guard case .settingUp(var agreement) = stage, agreement.camera.tracks.indices.contains(track) else { return }
        agreement.camera.notes.append(.trackRefused(agreement.camera.tracks[track].description.kind, reason))
        stage = .settingUp(agreement)
    }

    mutating func beginPlaying(_ output: inout SourceOutput, _ random: inout RandomSource, at now: Instant) {
        guard case .settingUp(let agreement) = stage else { return }
        guard !agreement.agreed.isEmpty else {
            return fail(.noMedia, kind: .tracksRefused)
        }
        let tracks = PlayingTracks(
            agreement, requested: transport, nextReport: now + configuration.reportInterval, at: now)
        output.announce(
            agreement.tracks, limit: configuration.maximumPayloadLength, random: &random, at: now)
        output.findings.record(agreement.camera.notes)
        let (used, keepAlive) = (tracks.transport, driver.client.keepAliveInUse)
        output.findings.use { transport in
            transport.kind = used
            transport.keepAlive = keepAlive
        }
        output.report(.playing)
        stage = .playing(tracks)
    }
}
