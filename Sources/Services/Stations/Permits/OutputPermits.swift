import DatagramPort
import MediaRelay
import Transport

/// What a change of the policy does at the place where a camera's media is.
protocol OutputSite: AnyObject, Sendable {
    /// Takes the present policy over. Called after each of its changes, in any order: it reads the policy itself.
    func followOutputs()
    /// Ends all live views at the relay. `whenEnded` is called when nothing more is sent to them.
    func cutLiveViews(whenEnded: @escaping @Sendable () -> Void)
    /// Takes taps away from outputs that did not confirm in time.
    func cut(_ taps: [OutputTap])
    /// Forgets what is kept for usages that are no longer allowed.
    func forget(_ lost: Set<OutputUsage>) async
    /// Something is allowed that was not. What was captured before is not for those who begin now.
    func hideHistory()
}

/// A tap that an output reads from.
struct OutputTap: Sendable {
    var tap: any TrackTap
    var track: TrackID
}

/// A tap that somebody else keeps: the relay until it removes it, and the output for as long as it reads from it.
private struct CoveredTap {
    weak var tap: (any TrackTap)?
    let track: TrackID
}

/// Which outputs of one device are allowed, and the permits of those that run.
///
/// It belongs to the device and not to its station: when a camera restarts with other settings, the next station finds the
/// same policy. A change of the policy returns when every output that it refuses has confirmed that nothing more leaves.
public final class OutputPermits: Sendable {
    /// Ends an output whose permit was revoked, and returns when nothing more leaves by it.
    public typealias Revoked = @Sendable (OutputRevocation) async -> Void

    private struct Entry {
        let usage: OutputUsage
        /// Nil for an output that ends by itself.
        let revoked: Revoked?
        var revocation: OutputRevocation?
        /// A permit may last for weeks, and its taps come and go. Those that have gone are not kept.
        var taps: [CoveredTap] = []

        /// The taps that are still there.
        var present: [OutputTap] { taps.compactMap { one in one.tap.map { OutputTap(tap: $0, track: one.track) } } }
        /// The tasks that wait for the confirmation.
        var awaitedBy: Confirmations?
    }

    private struct Site {
        weak var site: (any OutputSite)?
    }

    private struct State {
        /// The policy that is in force.
        var policy: OutputPolicy
        /// Policies that are on their way, in order. What one of them refuses is refused from the moment of the call.
        var coming: [(number: Int, policy: OutputPolicy)] = []
        var entries: [Int: Entry] = [:]
        var sites: [Site] = []
        var nextNumber = 0
        /// The last change, which the next one waits for.
        var last: Task<Void, Never>?

        func refusal(of usage: OutputUsage) -> OutputRefusal? {
            for (_, policy) in coming.reversed() {
                if let refusal = policy.refusal(of: usage) { return refusal }
            }
            return policy.refusal(of: usage)
        }
    }

    /// The device's identifier.
    public let camera: String
    /// How long a change waits for the confirmations before outputs are cut off.
    private let patience: Duration
    private let now: @Sendable () -> Instant
    /// Whether this gateway may act for the device.
    let tenures: Tenures
    private let state: Locked<State>

    /// Makes the permits of a device.
    /// - Parameters:
    ///   - camera: the device's identifier.
    ///   - policy: what is allowed at first: what was saved, if the device has run before.
    ///   - patience: how long a change waits for outputs to confirm their end before they are cut off.
    ///   - tenures: whether this gateway may act for the device. An output begins only while it may.
    ///   - now: the clock of the revocations.
    public init(
        camera: String, policy: OutputPolicy = OutputPolicy(), patience: Duration = .seconds(2),
        tenures: Tenures = Tenures(), now: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.tenures = tenures
        self.camera = camera
        self.patience = patience
        self.now = now
        state = Locked(State(policy: policy))
    }

    /// The last policy that was set, even if it is still on its way.
    public var policy: OutputPolicy { state.withLock { $0.coming.last?.policy ?? $0.policy } }

    /// Why a usage is refused now; nil if it is allowed.
    public func refusal(of usage: OutputUsage) -> OutputRefusal? { state.withLock { $0.refusal(of: usage) } }

    /// Whether nothing is allowed that needs what the camera sends.
    public var refusesMedia: Bool {
        state.withLock { state in
            OutputUsage.allCases.allSatisfy { !$0.needsMedia || state.refusal(of: $0) != nil }
        }
    }

    /// How many outputs have a permit that holds.
    public var count: Int { state.withLock { $0.entries.values.count { $0.revocation == nil } } }

    /// Lets an output begin.
    /// - Parameters:
    ///   - usage: what the output is for.
    ///   - owner: the output, for the log.
    ///   - revoked: ends the output, and returns when nothing more leaves by it. Called once at most, on any thread. It must
    ///     not wait for a change of the policy. Nil for an output that is over soon and looks at its permit meanwhile: a
    ///     change waits until its permit ends.
    /// - Throws: `refused` with the reason, or `runsElsewhere`.
    public func permit(
        for usage: OutputUsage, owner: String, revoked: Revoked?
    ) throws(StationError) -> OutputPermit {
        try tenures.check(camera)
        let result = state.withLock { state -> Result<Int, StationError> in
            if let refusal = state.refusal(of: usage) { return .failure(.refused(camera: camera, refusal)) }
            state.nextNumber += 1
            state.entries[state.nextNumber] = Entry(usage: usage, revoked: revoked)
            return .success(state.nextNumber)
        }
        return OutputPermit(usage: usage, owner: owner, number: try result.get(), permits: self)
    }

    /// Changes what is allowed. From the call on nothing new begins that the policy refuses. It returns when no output that
    /// the policy refuses sends anything more, and when what it allows may begin. Changes take effect in the order of their
    /// calls, and cancelling a caller does not stop one.
    public func set(_ policy: OutputPolicy) async {
        let moment = now()
        let turn = state.withLock { state in
            state.nextNumber += 1
            let number = state.nextNumber
            state.coming.append((number, policy))
            let before = state.last
            let turn = Task.detached { [self] in
                await before?.value
                await apply(policy, number: number, at: moment)
            }
            state.last = turn
            return turn
        }
        await turn.value
    }

    private func apply(_ policy: OutputPolicy, number: Int, at moment: Instant) async {
        let before = state.withLock { $0.policy }
        let lost = before.allowed.subtracting(policy.allowed)
        if !lost.isEmpty { await close(lost, policy, at: moment) }
        let opened = policy.allowed.subtracting(before.allowed)
        // A camera that was closed altogether has empty rings.
        if !opened.isEmpty { for site in sites { site.hideHistory() } }
        let all = state.withLock { state in
            state.policy = policy
            state.coming.removeAll { $0.number == number }
            return state.sites.compactMap(\.site)
        }
        for site in all { site.followOutputs() }
    }

    /// Ends the outputs that `policy` refuses.
    private func close(_ lost: Set<OutputUsage>, _ policy: OutputPolicy, at moment: Instant) async {
        // First, so that nothing more enters.
        for site in sites { site.followOutputs() }
        let confirmations = Confirmations()
        let revoked = state.withLock { state -> [(number: Int, revoked: Revoked, revocation: OutputRevocation)] in
            var revoked: [(number: Int, revoked: Revoked, revocation: OutputRevocation)] = []
            for (number, entry) in state.entries where entry.revocation == nil {
                guard let refusal = policy.refusal(of: entry.usage) else { continue }
                let revocation = OutputRevocation(refusal: refusal, moment: moment)
                state.entries[number]?.revocation = revocation
                state.entries[number]?.awaitedBy = confirmations
                confirmations.expect(number)
                if let revoke = entry.revoked { revoked.append((number, revoke, revocation)) }
            }
            return revoked
        }
        cutLiveViews(lost, policy, confirmations)
        for (number, revoke, revocation) in revoked {
            Task.detached {
                await revoke(revocation)
                confirmations.confirm(number)
            }
        }
        let missing = await confirmations.wait(atMost: patience)
        if !missing.isEmpty {
            let taps = state.withLock { state in missing.flatMap { state.entries[$0]?.present ?? [] } }
            for site in sites { site.cut(taps) }
            // A session may have been added since the first cut.
            let last = Confirmations()
            cutLiveViews(lost, policy, last)
            _ = await last.wait(atMost: patience)
        }
        for site in sites { await site.forget(lost) }
    }

    /// The relay ends live views at once, whatever else keeps their owners busy.
    private func cutLiveViews(_ lost: Set<OutputUsage>, _ policy: OutputPolicy, _ confirmations: Confirmations) {
        guard lost.contains(.liveView), policy.refusal(of: .liveView) != nil else { return }
        for (index, site) in sites.enumerated() {
            // The permits' numbers are positive.
            confirmations.expect(-1 - index)
            site.cutLiveViews { confirmations.confirm(-1 - index) }
        }
    }

    // MARK: Permits

    func revocation(of number: Int) -> OutputRevocation? { state.withLock { $0.entries[number]?.revocation } }

    func cover(_ tap: any TrackTap, of track: TrackID, by number: Int) {
        // The others are released outside of the lock: they may go meanwhile, and with them whatever they keep.
        let others = state.withLock { state -> [OutputTap] in
            guard let present = state.entries[number]?.present else { return [] }
            let all = present + [OutputTap(tap: tap, track: track)]
            state.entries[number]?.taps = all.map { CoveredTap(tap: $0.tap, track: $0.track) }
            return present
        }
        withExtendedLifetime(others) {}
    }

    /// How many taps are remembered, for tests.
    var covered: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.taps.count } } }

    func end(_ number: Int) {
        // What the entry holds is released outside of the lock.
        let entry = state.withLock { $0.entries.removeValue(forKey: number) }
        entry?.awaitedBy?.confirm(number)
    }

    // MARK: Sites

    private var sites: [any OutputSite] { state.withLock { $0.sites.compactMap(\.site) } }

    /// A camera's media is here now. It follows each change from now on.
    func attach(_ site: any OutputSite) {
        state.withLock { state in
            state.sites.removeAll { $0.site == nil }
            state.sites.append(Site(site: site))
        }
        site.followOutputs()
    }
}
