import Transport

/// Keeps a subscription to a device's events: asks for what it needs to know, subscribes, pulls, renews before the
/// end, and subscribes anew after a failure. It does no I/O: the driver sends what ``next(at:)`` names, one request at
/// a time, and hands in how it went.
public struct EventSubscriber: Sendable {
    /// What the driver is to do next.
    public enum Action: Sendable, Equatable {
        /// Send the request and hand the outcome to ``handle(_:at:wallTime:)``.
        case send(ONVIFRequest)
        /// Nothing before then.
        case wait(until: Instant)
    }

    /// What the driver is told.
    public enum Output: Sendable, Equatable {
        /// The camera's clock is so many milliseconds ahead of the gateway's.
        case clockOffset(milliseconds: Int64)
        /// What the device is.
        case information(DeviceInformation)
        /// The subscription stands.
        case subscribed
        /// Something happened at the camera.
        case notification(ONVIFNotification)
        /// It failed, and the next attempt begins after `pause`.
        case failed(ONVIFError, pause: Duration)
    }

    /// How patient the subscriber is.
    public struct Configuration: Sendable {
        /// How long a subscription is asked to live. Short, since cameras have few places and one that is left behind
        /// by a crash occupies one.
        public var lifetimeSeconds = 60
        /// How long a camera may wait with its answer when there is nothing to tell.
        public var waitSeconds = 10
        /// The shortest time from one pull to the next, for a camera that always has something to tell.
        public var shortestPull: Duration = .milliseconds(100)
        /// The pause after an empty answer that came much sooner than it was asked for: some cameras never wait.
        public var pauseAfterEmptyPull: Duration = .seconds(1)
        /// The first pause after a failure.
        public var firstPause: Duration = .milliseconds(500)
        /// The longest pause after a failure.
        public var longestPause: Duration = .seconds(60)
        /// The first pause after refused credentials: cameras lock an account after a few wrong attempts.
        public var firstPauseAfterRefusal: Duration = .seconds(30)
        /// The pause of an open circuit: after refusals, and after ``failuresUntilOpen`` failures in a row.
        public var openCircuitPause: Duration = .seconds(300)
        /// After so many failures in a row the circuit opens: one attempt in five minutes until one succeeds.
        public var failuresUntilOpen = 12

        /// The usual patience.
        public init() {}
    }

    private enum Step: Sendable, Equatable {
        case clock, services, capabilities, information, create, pull, renew
        case pausing(until: Instant)
    }

    private let device: HTTPAddress
    private let configuration: Configuration
    private var random: RandomSource
    private var step = Step.clock
    private var addresses = ServiceAddresses()
    private var pullPoint: PullPoint?
    private var renewAt: Instant?
    private var expiresAt: Instant?
    private var canRenew = true
    /// Good answers to pulls of this subscription. Some cameras answer the first one and fault at all others.
    private var pulls = 0
    private var pullBegan: Instant?
    private var pullSeconds = 1
    private var nextPull: Instant?
    /// A subscription that failed and may still occupy one of the camera's few places.
    private var leftBehind: PullPoint?
    private var isLeaving = false
    private var outputs: [Output] = []
    /// Failures since the last success.
    public private(set) var failuresInRow = 0

    /// A subscriber for a device. `random` spreads the attempts of many cameras.
    public init(device: HTTPAddress, configuration: Configuration = Configuration(), random: RandomSource) {
        self.device = device
        self.configuration = configuration
        self.random = random
    }

    /// What to do now.
    public mutating func next(at now: Instant) -> Action {
        if let pullPoint = leftBehind.take() {
            isLeaving = true
            return .send(Self.unsubscribe(pullPoint))
        }
        if case .pausing(let end) = step {
            if now < end { return .wait(until: end) }
            // The clock first: a camera that has restarted may have lost its time.
            step = .clock
        }
        if step == .pull {
            if let expiresAt, now >= expiresAt {
                pullPoint = nil
                step = .create
            } else if let renewAt, now >= renewAt {
                // A device that cannot renew gets a new subscription before the old one ends.
                step = canRenew ? .renew : .create
            }
        }
        if step == .pull {
            if let nextPull, now < nextPull { return .wait(until: nextPull) }
            pullBegan = now
            pullSeconds = waitSeconds(at: now)
        }
        return .send(request())
    }

    /// How long the camera may wait with the answer to a pull.
    private func waitSeconds(at now: Instant) -> Int {
        // The first one fetches the present state and proves that the subscription works: it does not wait.
        guard pulls > 0 else { return 1 }
        // A pull ends in time for the renewal.
        return min(configuration.waitSeconds, Int(max(1, ((renewAt ?? now) - now).inSeconds.rounded(.down))))
    }

    private func request() -> ONVIFRequest {
        let events = addresses.events ?? device
        switch step {
        case .clock, .pausing: return DeviceService.getSystemDateAndTime(device)
        case .services: return DeviceService.getServices(device)
        case .capabilities: return DeviceService.getCapabilities(device)
        case .information: return DeviceService.getDeviceInformation(device)
        case .create:
            return EventService.createPullPointSubscription(events, lifetimeSeconds: configuration.lifetimeSeconds)
        case .pull:
            guard let pullPoint else { return DeviceService.getSystemDateAndTime(device) }
            return EventService.pullMessages(pullPoint, waitSeconds: pullSeconds)
        case .renew:
            guard let pullPoint else { return DeviceService.getSystemDateAndTime(device) }
            return EventService.renew(pullPoint, lifetimeSeconds: configuration.lifetimeSeconds)
        }
    }

    /// Takes the outcome of the request that ``next(at:)`` named. `wallTime` is the gateway's clock.
    public mutating func handle(
        _ outcome: Result<XMLElement, ONVIFError>, at now: Instant, wallTime: WallTime
    ) {
        if isLeaving {
            // Whatever the camera says to it: the subscription ends by itself otherwise.
            isLeaving = false
            return
        }
        do throws(ONVIFError) {
            switch outcome {
            case .success(let answer): try succeed(answer, at: now, wallTime: wallTime)
            case .failure(let error): try tolerate(error, at: now)
            }
        } catch {
            fail(error, at: now)
        }
    }

    private mutating func succeed(_ answer: XMLElement, at now: Instant, wallTime: WallTime) throws(ONVIFError) {
        switch step {
        case .clock, .pausing:
            // A time that cannot be read does not end the attempt: the camera may still take the gateway's.
            if let time = try? DeviceService.systemDateAndTime(answer) {
                outputs.append(
                    .clockOffset(milliseconds: time.millisecondsSince1970 &- wallTime.millisecondsSince1970))
            }
            step = .services
        case .services:
            addresses = DeviceService.services(answer, given: device)
            step = addresses.events == nil ? .capabilities : .information
        case .capabilities:
            addresses = DeviceService.capabilities(answer, given: device)
            guard addresses.events != nil else { throw .unsupported("the camera offers no event service") }
            step = .information
        case .information:
            outputs.append(.information(DeviceService.deviceInformation(answer)))
            step = .create
        case .create:
            let granted = try EventService.pullPoint(
                answer, events: addresses.events ?? device, askedSeconds: configuration.lifetimeSeconds)
            pullPoint = granted
            pulls = 0
            nextPull = nil
            schedule(granted.lifetime, at: now)
            step = .pull
        case .pull:
            pulls += 1
            if pulls == 1 { outputs.append(.subscribed) }
            // Only the second one shows that it goes on.
            if pulls > 1 { failuresInRow = 0 }
            let notifications = EventService.notifications(answer)
            for notification in notifications { outputs.append(.notification(notification)) }
            paceNextPull(isEmpty: notifications.isEmpty, at: now)
        case .renew:
            let lifetime = EventService.lifetime(answer, askedSeconds: configuration.lifetimeSeconds)
            schedule(lifetime, at: now)
            step = .pull
        }
    }

    /// Goes on after refusals that cameras with small or old firmware answer to requests that they could do without.
    private mutating func tolerate(_ error: ONVIFError, at now: Instant) throws(ONVIFError) {
        guard case .fault(let fault) = error, !fault.isNotAuthorized else {
            // Devices that ask for credentials for the time itself get the gateway's time.
            if step == .clock, error.isRefusal {
                step = .services
                return
            }
            throw error
        }
        switch step {
        case .clock, .pausing: step = .services
        case .services: step = .capabilities
        case .capabilities: step = .information
        case .information: step = .create
        case .renew:
            canRenew = false
            step = .create
        case .create, .pull: throw error
        }
    }

    /// A camera that answers at once although it has nothing to tell would otherwise be asked without end.
    private mutating func paceNextPull(isEmpty: Bool, at now: Instant) {
        let began = pullBegan ?? now
        let isEarly = isEmpty && now - began < .seconds(pullSeconds) / 2
        nextPull = isEarly ? now + configuration.pauseAfterEmptyPull : began + configuration.shortestPull
    }

    private mutating func schedule(_ lifetime: Duration, at now: Instant) {
        // Half of the life is left for a renewal that fails, and its repetitions.
        renewAt = now + lifetime / 2
        expiresAt = now + lifetime
    }

    private mutating func fail(_ error: ONVIFError, at now: Instant) {
        if error == .stopped { return }
        // A subscription that the camera has forgotten, for example in a restart, is made anew at once, but once only.
        let isForgotten = step == .pull && pulls > 1 && failuresInRow == 0
        failuresInRow += 1
        if error.isAnswer { leftBehind = pullPoint }
        pullPoint = nil
        renewAt = nil
        expiresAt = nil
        let pause = isForgotten ? .milliseconds(100) : pause(after: error)
        outputs.append(.failed(error, pause: pause))
        step = .pausing(until: now + pause)
    }

    private mutating func pause(after error: ONVIFError) -> Duration {
        let first: Duration
        let longest: Duration
        if case .unsupported = error {
            (first, longest) = (configuration.openCircuitPause, configuration.openCircuitPause)
        } else if error.isRefusal {
            (first, longest) = (configuration.firstPauseAfterRefusal, configuration.openCircuitPause)
        } else if failuresInRow >= configuration.failuresUntilOpen {
            (first, longest) = (configuration.openCircuitPause, configuration.openCircuitPause)
        } else {
            (first, longest) = (configuration.firstPause, configuration.longestPause)
        }
        let base = min(longest.inSeconds, first.inSeconds * Double(1 << min(failuresInRow - 1, 12)))
        // Between half and one and a half of it: after a power cut all cameras come back at once.
        return .milliseconds(Int64(base * 1000 * Double.random(in: 0.5..<1.5, using: &random)))
    }

    /// The request that ends the subscription politely; nil where there is none.
    public mutating func farewell() -> ONVIFRequest? {
        guard let pullPoint else { return nil }
        self.pullPoint = nil
        step = .clock
        return Self.unsubscribe(pullPoint)
    }

    private static func unsubscribe(_ pullPoint: PullPoint) -> ONVIFRequest {
        var request = EventService.unsubscribe(pullPoint)
        // Nobody waits long for a farewell.
        request.timeout = .seconds(1)
        return request
    }

    /// What has come out since the last call, in its order.
    public mutating func takeOutputs() -> [Output] {
        defer { outputs.removeAll() }
        return outputs
    }
}
