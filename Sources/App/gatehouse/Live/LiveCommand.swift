import ArgumentParser
import Codecs
import DTLS
import DatagramPort
import Foundation
import GatewayClient
import HomeTypes
import LiveViewClient
import SDP
import Transport

/// `gatehouse live`: watches a camera for a while and reports what arrived.
struct LiveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live", abstract: "Watch a camera and report what arrives.",
        discussion: """
            The exit code is 0 only if everything that was agreed on arrived: decoded pictures, and sound if the \
            camera has any. It is 2 if everything arrived but the live view ended early, for example because \
            the camera was switched off. Standard error gives the reason.
            """)

    @Argument(help: "The device, by its key, id or name.", completion: HomeCompletion.devices)
    var device: String

    @OptionGroup var gateway: GatewayOptions

    @Option(help: ArgumentHelp("How long to watch, in seconds.", valueName: "seconds"))
    var duration: Double = 10

    @Option(help: ArgumentHelp("Write the last picture as PNG.", valueName: "file"))
    var snapshot: String?

    @Option(help: ArgumentHelp("Record to a fragmented MP4 file.", valueName: "file"))
    var record: String?

    @Option(help: ArgumentHelp("Play a WAV file through the camera's speaker.", valueName: "file"))
    var talk: String?

    @Flag(help: "Print JSON.")
    var json = false

    /// All media arrived until the view ended before its time.
    private static let endedEarly = ExitCode(2)

    func validate() throws {
        guard duration > 0, duration <= 86_400 else {
            throw ValidationError("--duration must be more than 0 and at most 86400 seconds")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        let report = try await reportingHomeErrors {
            do {
                return try await watch(connection)
            } catch let error as HomeError {
                throw error
            } catch let error as FileFault {
                throw HomeError.invalidArgument(error.description)
            } catch {
                throw HomeError.internal("\(error)")
            }
        }
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            printJSON(try encoder.encode(report))
        } else {
            print(report.text)
        }
        let early = report.endReason.map { reason in
            "the live view ended early, after \(String(format: "%.1f", report.durationSeconds)) s: "
                + reason.onOneLine
        }
        if !report.isComplete {
            printError("gatehouse: some of the agreed media did not arrive; the report above shows which")
            if let early { printError("gatehouse: \(early)") }
            throw ExitCode.failure
        }
        if let early {
            printError("gatehouse: \(early)")
            throw Self.endedEarly
        }
    }

    private func watch(_ connection: GatewayConnection) async throws -> LiveReport {
        // Before the view starts, so that nobody watches for minutes only to learn that nothing can be written.
        for path in [snapshot, record].compactMap(\.self) { try OutputFile.check(path) }
        let words = try talk.map(TalkFile.opusPackets(of:))
        var wishes = OfferedView.Wishes()
        wishes.talks = words != nil
        let offered = try OfferedView(wishes: wishes, identity: try DTLSIdentity.generate())
        let device = try await connection.deviceLabel(self.device)
        let loop = try ViewerLoop()
        let posted = MonotonicClock.now
        let started = try await connection.send(
            Google.WebRtcLiveViewTrait.startLiveView(offerSdp: offered.offerSdp), to: device)
        let answered = MonotonicClock.now
        defer { loop.stop() }
        do {
            let view = (offered: offered, started: started, posted: posted, answered: answered)
            return try await receive(view, of: device, words: words, on: loop, connection)
        } catch {
            // The next viewer should not find the camera's floor or a place taken.
            await Self.giveBack(connection, device, started.mediaSessionId)
            throw error
        }
    }

    private func receive(
        _ offer: (
            offered: OfferedView, started: Google.WebRtcLiveViewTrait.StartLiveViewCommand.Response, posted: Instant,
            answered: Instant
        ),
        of device: String, words: [[UInt8]]?, on loop: ViewerLoop, _ connection: GatewayConnection
    ) async throws -> LiveReport {
        let (started, posted) = (offer.started, offer.posted)
        let (events, continuation) = AsyncStream.makeStream(of: ViewingEvent.self)
        let view = try loop.start(offer.offered, answerSdp: started.answerSdp, assemblesFrames: true) { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        let session = started.mediaSessionId
        var meter = try LiveMeter(negotiated: view.negotiated, posted: posted)
        meter.record("answer", at: offer.answered)
        var recorder: LiveRecorder?
        if let record { recorder = try LiveRecorder(path: record, negotiated: view.negotiated) }

        let refusal = Locked<String?>(nil)
        let keeper = Task {
            await Self.keepAlive(connection, device, session, started.liveSessionDurationSeconds, refusal)
        }
        let told = LiveEnding.told(of: session, connection)
        let duration = duration
        let timer = Task {
            try? await Task.sleep(for: .seconds(duration))
            continuation.finish()
        }
        defer {
            timer.cancel()
            keeper.cancel()
            told.cancel()
        }
        for await event in events {
            if case .connected = event, let words {
                _ = try await connection.send(
                    Google.WebRtcLiveViewTrait.startTalkback(mediaSessionId: session), to: device)
                view.talk(words)
            }
            meter.take(event)
            try recorder?.take(event)
        }
        let watched = MonotonicClock.now - posted
        let statistics = await view.statistics()
        let state = await Self.state(of: session, connection)
        view.stop()
        try recorder?.finish()
        var reason: String?
        if let said = meter.endReason {
            reason = await LiveEnding.words(said: said, told: told, refusal: refusal.withLock { $0 })
        } else {
            await Self.giveBack(connection, device, session)
        }
        let picture = meter.lastPicture
        var report = meter.report(
            device: device, duration: watched, statistics: statistics, notes: started.notes ?? [])
        report.endReason = reason
        report.recording = record
        report.path = state?.path
        report.stream = state?.stream
        report.estimatedBitrate = state?.statistics?.estimatedBitrate
        report.talk = words == nil ? nil : state?.talkback
        if let snapshot, let picture {
            let bytes = try PNG.encode(RGBImage(picture))
            try OutputFile.write(Array(bytes), to: snapshot)
            report.snapshot = snapshot
        }
        return report
    }

    /// What the report takes from the gateway's description of the session.
    private struct Session: Decodable {
        struct Statistics: Decodable {
            var estimatedBitrate: UInt64?
        }

        var path: String?
        var stream: LiveReport.Stream?
        /// The fields are missing where the gateway is of an earlier version.
        var statistics: Statistics?
        var talkback: TalkReport?
    }

    /// The gateway's description of the session; nil when it has ended by itself.
    private static func state(of session: String, _ connection: GatewayConnection) async -> Session? {
        let path = "/v1/sessions/\(GatewayConnection.segment(session))"
        guard let data = try? await connection.get(path) else { return nil }
        return try? connection.decode(Session.self, data)
    }

    private static func giveBack(_ connection: GatewayConnection, _ device: String, _ session: String) async {
        // The session may have just ended by itself, which is as good.
        _ = try? await connection.send(
            Google.WebRtcLiveViewTrait.stopLiveView(mediaSessionId: session), to: device)
    }

    /// Extends the lease 30 seconds before it ends, as the apps do.
    /// - Parameter refusal: gets why the last extension failed, and nil when one succeeds.
    private static func keepAlive(
        _ connection: GatewayConnection, _ device: String, _ session: String, _ seconds: UInt16,
        _ refusal: Locked<String?>
    ) async {
        var granted = Int(seconds)
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(max(5, granted - 30)))
            guard !Task.isCancelled else { return }
            do {
                let extended = try await connection.send(
                    Google.WebRtcLiveViewTrait.extendLiveView(mediaSessionId: session), to: device)
                granted = Int(extended.liveSessionDurationSeconds)
                refusal.withLock { $0 = nil }
            } catch {
                // There is time for another try. A session that cannot be extended ends, and the view reports it.
                granted = 0
                let message = error.message
                refusal.withLock { $0 = message }
            }
        }
    }
}

/// A WAV file as Opus packets of 20 ms.
enum TalkFile {
    /// The largest WAV file that is read, in bytes: half a minute in stereo at 192 kHz with 32 bits per sample.
    static let maximumSize = 48 << 20

    static func opusPackets(of path: String) throws -> [[UInt8]] {
        let bytes = try InputFile.read(path, limit: maximumSize, what: "WAV file")
        let samples: [Int16]
        do {
            samples = try WAVFile(parsing: bytes).monoSamples(rate: 48_000)
        } catch {
            throw HomeError.invalidArgument("\(path) cannot be played: \(error)")
        }
        var encoder = try OpusEncoder()
        var packets: [[UInt8]] = []
        var start = 0
        while start < samples.count {
            var frame = Array(samples[start..<min(start + 960, samples.count)])
            frame += [Int16](repeating: 0, count: 960 - frame.count)
            packets.append(try encoder.encode(frame))
            start += 960
        }
        return packets
    }
}
