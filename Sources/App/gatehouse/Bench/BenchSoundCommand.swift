import ArgumentParser
import DTLS
import DatagramPort
import Foundation
import GatewayClient
import HomeTypes
import LiveViewClient
import SDP
import Transport

/// `gatehouse bench sound`: listens to a camera that ticks. It reports when each tick arrived, and when it was made
/// according to the sender.
struct BenchSoundCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sound", abstract: "Listen to a camera that ticks, and time each tick.",
        discussion: """
            Prints one JSON object per tick: when it arrived and when the camera made it according to the sender \
            reports, both in monotonic milliseconds, and its place on the codec's timeline. tools/bench-voice compares \
            them with the ticks that the camera made.
            """)

    @Argument(help: "The device.")
    var device: String

    @OptionGroup var gateway: GatewayOptions

    @Option(help: ArgumentHelp("How long to listen, in seconds.", valueName: "seconds"))
    var duration: Double = 60

    func validate() throws {
        guard duration > 0, duration <= 86_400 else {
            throw ValidationError("--duration must be more than 0 and at most 86400 seconds")
        }
    }

    func run() async throws {
        warnWithoutOptimization()
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            do {
                try await listen(connection)
            } catch let error as HomeError {
                throw error
            } catch {
                throw HomeError.internal("\(error)")
            }
        }
    }

    private func listen(_ connection: GatewayConnection) async throws {
        let offered = try OfferedView(wishes: OfferedView.Wishes(), identity: try DTLSIdentity.generate())
        let loop = try ViewerLoop()
        defer { loop.stop() }
        let started = try await connection.send(
            Google.WebRtcLiveViewTrait.startLiveView(offerSdp: offered.offerSdp), to: device)
        let (events, continuation) = AsyncStream.makeStream(of: ViewingEvent.self)
        let view = try loop.start(offered, answerSdp: started.answerSdp, assemblesFrames: true) { event in
            continuation.yield(event)
            if case .ended = event { continuation.finish() }
        }
        let audio = view.negotiated.media.first { $0.kind == .audio && $0.direction.receives }
        var meter = try TickMeter(codecs: audio?.receivePayloadTypes ?? [:])
        let session = started.mediaSessionId
        let (seconds, device) = (Int(started.liveSessionDurationSeconds), device)
        let keeper = Task {
            while (try? await Task.sleep(for: .seconds(max(5, seconds - 30)))) != nil {
                // A session that cannot be extended ends, and its end is reported below.
                _ = try? await connection.send(
                    Google.WebRtcLiveViewTrait.extendLiveView(mediaSessionId: session), to: device)
            }
        }
        let timer = Task { [duration] in
            guard (try? await Task.sleep(for: .seconds(duration))) != nil else { return }
            continuation.finish()
        }
        defer {
            timer.cancel()
            keeper.cancel()
        }
        for await event in events {
            switch event {
            case .audio(let packet):
                if let tick = meter.take(packet) { try printJSONLine(tick) }
            case .ended(let reason):
                throw HomeError.internal("the view has ended: \(reason)")
            default: break
            }
        }
        view.stop()
        // A session that has just ended by itself is as good as ended.
        _ = try? await connection.send(
            Google.WebRtcLiveViewTrait.stopLiveView(mediaSessionId: session), to: device)
    }
}
