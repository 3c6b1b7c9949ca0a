import HomeHub
import HomeTypes
import Signalling
import Synchronization

/// A camera for tests: its updates are what the test sends.
package final class FakeCamera: CameraDriver {
    package let deviceID: String
    package var hasSpeaker: Bool { speaker.load(ordering: .acquiring) }
    private let speaker: Atomic<Bool>
    private let stream: AsyncStream<CameraUpdate>
    private let continuation: AsyncStream<CameraUpdate>.Continuation

    /// The usual sound, under two numbers.
    package let sounds = [CameraSound.doorbell, CameraSound(number: 3, name: "Bell", clip: .chime)]

    /// The settings that it keeps, and why it refuses to change them.
    package let settings = Mutex(Google.CameraAvStreamManagementTrait.Attributes())
    package let refusal = Mutex<HomeError?>(nil)

    /// Runs while somebody waits until the hub has applied the reports.
    package let whenReportsApply = Mutex<(@Sendable () async -> Void)?>(nil)
    /// Called when the hub begins to follow it.
    package let whenFollowed = Mutex<(@Sendable () -> Void)?>(nil)

    package init(_ deviceID: String, hasSpeaker: Bool = true) {
        self.deviceID = deviceID
        self.speaker = Atomic(hasSpeaker)
        (self.stream, self.continuation) = AsyncStream.makeStream()
    }

    package func updates() -> AsyncStream<CameraUpdate> {
        whenFollowed.withLock { $0 }?()
        return stream
    }

    package func reportsApplied() async { await whenReportsApply.withLock { $0 }?() }

    package func send(_ update: CameraUpdate) { continuation.yield(update) }

    /// The camera describes a speaker, as real ones do once they are connected.
    package func findSpeaker() { speaker.store(true, ordering: .releasing) }

    package func finish() { continuation.finish() }

    package func press() async throws(HomeError) {
        send(.doorbellPressed(.init(doorbellPressTimeSeconds: 1)))
    }

    /// Changes the settings, unless it refuses.
    package func write(_ write: AttributeWrite) async throws(HomeError) -> CommandOutcome {
        guard let wanted = write.trait as? Google.CameraAvStreamManagementTrait else { return CommandOutcome() }
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
        let now = settings.withLock { settings in
            settings.merge(wanted.attributes)
            return settings
        }
        return CommandOutcome(updates: [.settings(now)])
    }

    /// Accepts every event as new, except those that report the end of something.
    package func report(_ event: ReportedEvent) async throws(HomeError) -> Bool {
        guard event.active != false else { return false }
        if let kind = event.type.detection {
            send(.detection(DetectionEvent(kind: kind, phase: .momentary, eventSessionId: "s-1")))
        } else {
            send(.doorbellPressed(.init(complementaryToneId: event.complementaryToneId)))
        }
        return true
    }

    package var speakerReading: SpeakerReading? {
        hasSpeaker ? SpeakerReading(samples: 960, rootMeanSquare: 0.25, dominantFrequency: 440) : nil
    }

    package static let flowing = CameraUpdate.source(
        CameraSourceStatus(
            state: .flowing,
            tracks: [CameraTrack(kind: "video", codec: "VP8"), CameraTrack(kind: "audio", codec: "opus")]))
}
