import Testing
import Transport

@testable import Cameras

/// The readings of one camera come on several threads.
@Suite struct CameraEventIntakeTests {
    @Test func `an end that follows while its beginning is being reported is reported after it`() {
        let phases = Locked<[CameraDetection.Phase]>([])
        let held = Locked<CameraEventIntake?>(nil)
        let intake = CameraEventIntake { event in
            guard case .detection(let detection) = event else { return }
            if detection.phase == .began, let intake = held.withLock({ $0 }) {
                // Another thread ends it before this one has come any further.
                let hasEnded = Latch()
                let runs = startDetachedThread(name: "end") {
                    intake.end()
                    hasEnded.set()
                }
                if runs { hasEnded.wait() }
            }
            phases.withLock { $0.append(detection.phase) }
        }
        held.withLock { $0 = intake }
        #expect(intake.take(SensorReading(subject: .detection(.motion), sensor: "a", isActive: true)))
        held.withLock { $0 = nil }
        #expect(phases.withLock { $0 } == [.began, .ended])
        #expect(intake.activeKinds.isEmpty)
    }
}
