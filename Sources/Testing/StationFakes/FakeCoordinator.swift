import Stations
import Transport

/// A coordinator that a test decides for: it grants tenures until a moment, or says that another gateway has the device.
package final class FakeCoordinator: Coordinator {
    private struct State {
        var deadline: Instant?
        var epoch: UInt64 = 0
        var released: [Tenure] = []
    }

    private let state = Locked(State())

    /// Refuses every device.
    package init() {}

    /// Grants devices until `deadline` from now on; nil for none.
    package func grant(until deadline: Instant?) { state.withLock { $0.deadline = deadline } }

    /// What was given back.
    package var released: [Tenure] { state.withLock { $0.released } }

    package func tenure(of device: String) async -> Tenure? {
        state.withLock { state in
            guard let deadline = state.deadline else { return nil }
            state.epoch += 1
            return Tenure(device: device, epoch: state.epoch, deadline: deadline)
        }
    }

    package func release(_ tenure: Tenure) async { state.withLock { $0.released.append(tenure) } }
}
