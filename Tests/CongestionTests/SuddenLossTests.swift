import Testing
import Transport

@testable import Congestion

/// When loss that begins is taken for sudden and heavy.
@Suite struct SuddenLossTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func window(lost: Int, of count: Int) -> LossWindow {
        var window = LossWindow(since: start)
        for _ in 0..<lost { window.recordMissing() }
        for _ in lost..<count { window.recordArrival(wasMissing: false) }
        return window
    }

    @Test func aLineThatHasBecomeTooSlowIsNoticed() {
        var sudden = SuddenLoss()
        // The first window has nothing to be compared with.
        sudden.record(window(lost: 40, of: 60), at: start)
        #expect(sudden.since == nil)
        sudden.record(LossWindow.Measurement(share: 0.01, packets: 60), at: start)
        sudden.record(window(lost: 9, of: 15), at: start)
        #expect(sudden.since == nil, "too few packets")
        sudden.record(window(lost: 16, of: 40), at: start + .milliseconds(200))
        #expect(sudden.since == start + .milliseconds(200))
        sudden.record(LossWindow.Measurement(share: 0.4, packets: 80), at: start + .milliseconds(500))
        #expect(sudden.since != nil)
        sudden.end()
        #expect(sudden.since == nil)
    }

    /// A radio link that loses a fifth needs its repairs.
    @Test func aFifthAtRandomIsNotSudden() {
        var sudden = SuddenLoss()
        sudden.record(LossWindow.Measurement(share: 0, packets: 60), at: start)
        for packets in 1...140 { sudden.record(window(lost: packets / 5, of: packets), at: start) }
        #expect(sudden.since == nil)
    }

    @Test func whatStaysIsUsual() {
        var sudden = SuddenLoss()
        sudden.record(LossWindow.Measurement(share: 0, packets: 60), at: start)
        sudden.record(window(lost: 30, of: 60), at: start)
        for step in 1...2 as ClosedRange<Int64> {
            sudden.record(LossWindow.Measurement(share: 0.5, packets: 60), at: start + .milliseconds(step * 500))
            #expect(sudden.since == start)
        }
        sudden.record(LossWindow.Measurement(share: 0.5, packets: 60), at: start + .milliseconds(1_500))
        #expect(sudden.since == nil && sudden.usual == 0.5)
        sudden.record(window(lost: 30, of: 60), at: start + .seconds(2))
        #expect(sudden.since == nil)
    }

    @Test func whatEndsAgainWasSudden() {
        var sudden = SuddenLoss()
        sudden.record(LossWindow.Measurement(share: 0, packets: 60), at: start)
        sudden.record(window(lost: 30, of: 60), at: start)
        sudden.record(LossWindow.Measurement(share: 0.1, packets: 60), at: start + .milliseconds(500))
        #expect(sudden.since == nil && sudden.usual == 0.1)
    }
}
