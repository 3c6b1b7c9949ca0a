import HTTPMedia
import Transport
import XML

/// Keeps a subscription to a device's events: asks for what it needs to know, subscribes, pulls, renews before the end,
/// and subscribes again after a failure. It does no I/O: the driver sends what ``pollAction(at:)`` returns, one request at a
/// time, hands in the outcome, and takes events until none is left (``pollEvent()``).
public struct EventSubscriber: Sendable {
    /// What the driver does next.
    public enum Action: Sendable, Equatable {
        /// Send the request and hand the outcome to ``handle(_:at:wallTime:)``.
        case send(ONVIFRequest)
        /// Do nothing before then.
        case wait(until: Instant)
    }

    /// What the subscriber reports to the driver.
    public enum Event: Sendable, Equatable {
        /// The camera's clock is this many milliseconds ahead of the gateway's.
        case clockOffset(milliseconds: Int64)
        /// What the device is.
        case information(DeviceInformation)
        /// The subscription is established.
        case subscribed
        /// Something happened at the camera.
        case notification(ONVIFNotification)
        /// An attempt failed. The next one begins after `pause`.
        case failed(ONVIFError, pause: Duration)
    }

    /// How patient the subscriber is.
    public struct Configuration: Sendable {
        /// The lifetime that is requested for a subscription. It is short: cameras have few places, and a subscription
        /// that a crash leaves behind occupies one.
        public var lifetimeSeconds = 60
        /// How long a camera may delay its answer when it has nothing to report.
        public var waitSeconds = 10
        /// The shortest time from one pull to the next, for a camera that always has something to report.
        public var shortestPull: Duration = .milliseconds(100)
        /// The pause after an empty answer that came much sooner than requested: some cameras never wait.
        public var pauseAfterEmptyPull: Duration = .seconds(1)
        /// A subscription that ends sooner counts as a failure from the second in a row on, even if it worked.
        public var shortestSubscription: Duration = .seconds(5)
        /// The first pause after a failure.
        public var firstPause: Duration = .milliseconds(500)
        /// The longest pause after a failure.
        public var longestPause: Duration = .seconds(60)
        /// The first pause after refused credentials: cameras lock an account after a few wrong attempts.
        public var firstPauseAfterRefusal: Duration = .seconds(30)
        /// After this many refusals in a row the circuit opens, as it does for the camera's pictures: cameras allow from 5
        /// to 10 wrong attempts.
        public var refusalsUntilOpen = 3
        /// The first pause of a circuit that refusals have opened. It doubles with each further one.
        public var pauseAfterRefusals: Duration = .seconds(900)
        /// The longest of these pauses.
        public var longestPauseAfterRefusals: Duration = .seconds(3_600)
        /// The pause of a circuit that other failures have opened, ``failuresUntilOpen`` of them in a row.
        public var openCircuitPause: Duration = .seconds(300)
        /// After this many failures in a row the circuit opens: one attempt in five minutes until one succeeds.
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
    /// Good answers to pulls of this subscription. Some cameras answer the first pull and return a fault for all
    /// others.
    private var pulls = 0
    private var createdAt: Instant?
    /// Subscriptions in a row that ended soon, although they worked.
    private var shortLived = 0
    private var pullBegan: Instant?
    private var pullSeconds = 1
    private var nextPull: Instant?
    /// A subscription that failed and may still occupy one of the camera's few places.
    private var leftBehind: PullPoint?
    private var isLeaving = false
    private var events: [Event] = []
    /// Failures since the last success.
    public private(set) var failuresInRow = 0
    /// Refusals since the last success. Another failure between them does not make the account safe.
    private var refusals = 0

    /// A subscriber for a device. `random` spreads the attempts of many cameras.
    public init(device: HTTPAddress, configuration: Configuration = Configuration(), random: RandomSource) {
        self.device = device
        self.configuration = configuration
        self.random = random
    }

    /// What to do now: send a request, or wait. One request is under way at a time.
    public mutating func pollAction(at now: Instant) -> Action {
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
        // The first pull fetches the present state and proves that the subscription works, so it does not wait.
        guard pulls > 0 else { return 1 }
        // A pull ends in time for the renewal.
        return min(configuration.waitSeconds, Int(max(1, ((renewAt ?? now) - now).inSeconds.rounded(.down))))
    }

    private func request() -> ONVIFRequest {
        let service = addresses.events ?? device
        switch step {
        case .clock, .pausing: return DeviceService.getSystemDateAndTime(device)
        case .services: return DeviceService.getServices(device)
        case .capabilities: return DeviceService.getCapabilities(device)
        case .information: return DeviceService.getDeviceInformation(device)
        case .create:
            return EventService.createPullPointSubscription(service, lifetimeSeconds: configuration.lifetimeSeconds)
        case .pull:
            guard let pullPoint else { return DeviceService.getSystemDateAndTime(device) }
            return EventService.pullMessages(pullPoint, waitSeconds: pullSeconds)
        case .renew:
            guard let pullPoint else { return DeviceService.getSystemDateAndTime(device) }
            return EventService.renew(pullPoint, lifetimeSeconds: configuration.lifetimeSeconds)
        }
    }

    /// Handles the outcome of the request that ``pollAction(at:)`` returned. `wallTime` is the gateway's clock.
    public mutating func handle(
        _ outcome: Result<XMLElement, ONVIFError>, at now: Instant, wallTime: WallTime
    ) {
        expectDrained(isDrained)
        if isLeaving {
            // The camera's answer does not matter: without a renewal the subscription ends by itself.
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
            // A time that cannot be read does not end the attempt: the camera may still accept the gateway's.
            if let time = try? DeviceService.systemDateAndTime(answer) {
                events.append(
                    .clockOffset(milliseconds: time.millisecondsSince1970 &- wallTime.millisecondsSince1970))
            }
            step = .services
        case .services:
            addresses = DeviceService.services(answer, given: device)
            step = addresses.events == nil ? .capabilities : .information
        case .capabilities:
            addresses = DeviceService.capabilities(answer, given: device)
            guard addresses.events != nil else { throw .unsupported(.eventService) }
            step = .information
        case .information:
            events.append(.information(DeviceService.deviceInformation(answer)))
            step = .create
        case .create:
            let granted = try EventService.pullPoint(
                answer, events: addresses.events ?? device, askedSeconds: configuration.lifetimeSeconds)
            pullPoint = granted
            pulls = 0
            createdAt = now
            nextPull = nil
            schedule(granted.lifetime, at: now)
            step = .pull
        case .pull:
            pulls += 1
            if pulls == 1 { events.append(.subscribed) }
            // Only the second pull shows that the subscription keeps working.
            if pulls > 1 {
                failuresInRow = 0
                refusals = 0
            }
            if let createdAt, now - createdAt >= configuration.shortestSubscription { shortLived = 0 }
            let notifications = EventService.notifications(answer)
            for notification in notifications { events.append(.notification(notification)) }
            paceNextPull(isEmpty: notifications.isEmpty, at: now)
        case .renew:
            let lifetime = EventService.lifetime(answer, askedSeconds: configuration.lifetimeSeconds)
            schedule(lifetime, at: now)
            step = .pull
        }
    }

    /// Continues after cameras with small or old firmware refuse requests that are not essential.
    private mutating func tolerate(_ error: ONVIFError, at now: Instant) throws(ONVIFError) {
        guard case .fault(let fault) = error, !fault.isNotAuthorized else {
            // For devices that require credentials even for the time, the gateway's time is used.
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

    /// A camera that answers at once although it has nothing to report would otherwise be asked without a pause.
    private mutating func paceNextPull(isEmpty: Bool, at now: Instant) {
        let began = pullBegan ?? now
        let isEarly = isEmpty && now - began < .seconds(pullSeconds) / 2
        nextPull = isEarly ? now + configuration.pauseAfterEmptyPull : began + configuration.shortestPull
    }

    private mutating func schedule(_ lifetime: Duration, at now: Instant) {
        // Half of the lifetime is left for a renewal that fails, and for its repetitions.
        renewAt = now + lifetime / 2
        expiresAt = now + lifetime
    }

    private mutating func fail(_ error: ONVIFError, at now: Instant) {
        if error == .stopped { return }
        // A subscription that the camera has forgotten, for example in a restart, is made again at once, but only once.
        var isForgotten = step == .pull && pulls > 1 && failuresInRow == 0
        failuresInRow += 1
        if isForgotten {
            let isShortLived = createdAt.map { now - $0 < configuration.shortestSubscription } ?? false
            shortLived = isShortLived ? shortLived + 1 : 0
            if shortLived > 1 {
                isForgotten = false
                // Such a camera still reports something, so the circuit stays closed.
                failuresInRow = min(shortLived, configuration.failuresUntilOpen - 1)
            }
        }
        if error.isAnswer { leftBehind = pullPoint }
        pullPoint = nil
        renewAt = nil
        expiresAt = nil
        let pause = isForgotten ? .milliseconds(100) : pause(after: error)
        events.append(.failed(error, pause: pause))
        step = .pausing(until: now + pause)
    }

    private mutating func pause(after error: ONVIFError) -> Duration {
        let first: Duration
        let longest: Duration
        var times = failuresInRow - 1
        if error.isRefusal { refusals += 1 }
        if case .unsupported = error {
            (first, longest) = (configuration.openCircuitPause, configuration.openCircuitPause)
        } else if error.isRefusal, refusals >= configuration.refusalsUntilOpen {
            (first, longest) = (configuration.pauseAfterRefusals, configuration.longestPauseAfterRefusals)
            times = refusals - configuration.refusalsUntilOpen
        } else if error.isRefusal {
            (first, longest) = (configuration.firstPauseAfterRefusal, configuration.pauseAfterRefusals)
        } else if failuresInRow >= configuration.failuresUntilOpen {
            (first, longest) = (configuration.openCircuitPause, configuration.openCircuitPause)
        } else {
            (first, longest) = (configuration.firstPause, configuration.longestPause)
        }
        let base = min(longest.inSeconds, first.inSeconds * Double(1 << min(times, 12)))
        // Between half and one and a half times the pause: after a power cut all cameras come back at once.
        return .milliseconds(Int64(base * 1000 * Double.random(in: 0.5..<1.5, using: &random)))
    }

    /// The request that ends the subscription politely; nil where no subscription exists.
    public mutating func farewell() -> ONVIFRequest? {
        guard let pullPoint else { return nil }
        self.pullPoint = nil
        step = .clock
        return Self.unsubscribe(pullPoint)
    }

    private static func unsubscribe(_ pullPoint: PullPoint) -> ONVIFRequest {
        var request = EventService.unsubscribe(pullPoint)
        // The last request is not worth a long wait.
        request.timeout = .seconds(1)
        return request
    }

    /// The next thing that happened, in order; nil if there is none.
    public mutating func pollEvent() -> Event? { events.isEmpty ? nil : events.removeFirst() }

    /// Whether the driver has taken all events. A debug build traps if it hands in more before that.
    public var isDrained: Bool { events.isEmpty }
}
