import DatagramPort
import Foundation
import HomeHub
import HomeTypes
import Logging
import ServiceLifecycle
import Signalling
import Stations
import Transport

/// Notifies browsers of what happens at cameras while their pages are closed (Web Push).
///
/// The hub reports into a small queue and continues. Of a principal that may not read a device, no browser hears of it.
actor PushService {
    /// How many happenings wait at most; the oldest gives way.
    static let backlog = 32
    /// How long detections of one kind at one camera notify nobody again.
    static let quiet = Duration.seconds(60)
    /// The width of a picture in pixels.
    static let pictureWidth = 640
    /// How long a picture of a notification is kept.
    static let pictureLifetime = Duration.seconds(600)
    /// How long a camera may take for its picture: a visitor waits.
    static let picturePatience = Duration.seconds(4)
    /// The pauses before a message is sent again that the service could not take.
    static let pauses: [Duration] = [.seconds(2), .seconds(10), .seconds(30)]

    nonisolated let subscriptions: PushSubscriptions
    nonisolated let vapid: VAPID
    nonisolated let settings: GatewayConfiguration.Push
    /// The pictures of notifications, by secret names.
    nonisolated let pictures = EventPictures(lifetime: PushService.pictureLifetime, capacity: 64)
    private let hub: HomeHub
    private let accessOf: @Sendable (String) -> Access
    private let isUnknown: @Sendable (String) -> Bool
    private let mayReturn: @Sendable (String) async -> Bool
    private let formerEnd: @Sendable (String) -> Date?
    private let client: PushClient
    private let pauses: [Duration]
    private let logger: Logger
    private let inbox: AsyncStream<PushHappening>.Continuation
    private let happenings: AsyncStream<PushHappening>
    /// When each kind of detection was reported last, by the topic.
    private var reported: [String: Instant] = [:]
    private var trials = PushTrials()

    /// - Parameters:
    ///   - accessOf: what a principal may do.
    ///   - isUnknown: whether that is not known, because the record of the principal's token may be damaged.
    ///   - mayReturn: whether a principal has no rights only because the time of its token is over.
    ///   - formerEnd: when an earlier holder of a principal's name ended; nil where there was none.
    init(
        hub: HomeHub, subscriptions: PushSubscriptions, vapid: VAPID, settings: GatewayConfiguration.Push,
        client: PushClient? = nil, accessOf: @escaping @Sendable (String) -> Access,
        isUnknown: @escaping @Sendable (String) -> Bool = { _ in false },
        mayReturn: @escaping @Sendable (String) async -> Bool = { _ in false },
        formerEnd: @escaping @Sendable (String) -> Date? = { _ in nil }, pauses: [Duration] = PushService.pauses,
        logger: Logger
    ) {
        self.hub = hub
        self.subscriptions = subscriptions
        self.vapid = vapid
        self.settings = settings
        self.client = client ?? PushClient(vapid: vapid, settings: settings)
        self.accessOf = accessOf
        self.isUnknown = isUnknown
        self.mayReturn = mayReturn
        self.formerEnd = formerEnd
        self.pauses = pauses
        self.logger = logger
        (happenings, inbox) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.backlog))
    }

    /// What the home reports.
    nonisolated var observer: PushObserver { PushObserver(inbox: inbox) }

    /// Notifies until it is asked to stop.
    func run() async {
        await endRightless()
        await hub.add(observer)
        await withDiscardingTaskGroup { group in
            for await happening in happenings {
                guard !Task.isCancelled else { break }
                guard await isWorthNotifying(happening) else { continue }
                // A slow service does not delay the next press.
                group.addTask { await self.notify(happening) }
            }
            group.cancelAll()
        }
    }

    /// Forgets the browsers of principals whose rights have ended while the gateway was stopped, of those who do not
    /// return, and of earlier holders of a name. It is called at the start and once a minute.
    func endRightless() async {
        let principals = Set(await subscriptions.all.map(\.principal))
        for principal in principals.sorted() {
            if accessOf(principal) == .nothing {
                if !isUnknown(principal) { await endBrowsers(of: principal) }
            } else if let end = formerEnd(principal) {
                await subscriptions.end(of: principal, madeUntil: end)
            }
        }
    }

    /// Forgets the browsers of a principal that has lost all rights. While it may return, they stay and are not
    /// notified.
    func endBrowsers(of principal: String) async {
        guard await !mayReturn(principal) else { return }
        await subscriptions.end(of: principal)
    }

    /// Ends `run()`.
    nonisolated func stop() { inbox.finish() }

    private func isWorthNotifying(_ happening: PushHappening) async -> Bool {
        guard !(await subscriptions.isEmpty) else { return false }
        guard case .detection = happening.kind else { return true }
        let now = MonotonicClock.now
        reported = reported.filter { now - $0.value < Self.quiet }
        guard reported[happening.topic] == nil else { return false }
        reported[happening.topic] = now
        return true
    }

    private func notify(_ happening: PushHappening) async {
        let object = hub.directory.device(happening.deviceID)
        let wanted = await subscriptions.all.filter { subscription in
            subscription.wants(happening) && accessOf(subscription.principal).permits(.read, object)
        }
        guard !wanted.isEmpty else { return }
        let wantsPicture = wanted.contains {
            $0.wishes.picture && accessOf($0.principal).permits(.view, object)
        }
        let picture = wantsPicture ? await self.picture(of: happening.deviceID) : nil
        await withDiscardingTaskGroup { group in
            for subscription in wanted {
                group.addTask { await self.send(happening, picture: picture, to: subscription) }
            }
        }
    }

    /// Sends a message to one browser, and again after a while if its service has no room.
    /// - Parameter picture: the path of a picture. The message has it only for a person who wants pictures and may see the device.
    /// - Returns: what came of it at last.
    @discardableResult
    func send(
        _ happening: PushHappening, picture: String? = nil, to subscription: PushSubscription
    ) async -> (outcome: PushOutcome, problem: String?) {
        let id = happening.deviceID
        let name = (try? await hub.device(id))?.name ?? id
        var last: (outcome: PushOutcome, problem: String?) = (.failed(retryAfter: nil), nil)
        for pause in pauses + [.zero] {
            guard let subscription = await stillMeant(subscription, by: happening) else { break }
            let maySee =
                subscription.wishes.picture
                && accessOf(subscription.principal).permits(.view, hub.directory.device(id))
            let message = PushMessage(
                happening, key: hub.names.label(of: id), name: name, picture: maySee ? picture : nil)
            guard let body = try? message.json() else { return (.refused(status: 0), "the message cannot be written") }
            last = await client.send(body, topic: happening.topic, to: subscription)
            await subscriptions.record(last.outcome, of: subscription.id)
            guard case .failed(let retryAfter) = last.outcome, pause > .zero, happening.kind != .test else { break }
            // A message that comes a minute later is of no use at the door.
            guard retryAfter ?? .zero <= .seconds(60),
                (try? await Task.sleep(for: max(pause, retryAfter ?? .zero))) != nil
            else { break }
        }
        if let problem = last.problem {
            logger.warning(
                "a browser was not notified",
                metadata: ["principal": "\(subscription.principal)", "reason": "\(problem)"])
        }
        return last
    }

    /// The browser as it is now; nil if it must not get the message any more. While the camera took a picture or the service
    /// had no room, its person may have lost the right, or somebody else may have signed in there.
    private func stillMeant(_ known: PushSubscription, by happening: PushHappening) async -> PushSubscription? {
        if happening.kind == .test { return known }
        guard let browser = try? await subscriptions.subscription(known.id, of: known.principal),
            browser.wants(happening),
            accessOf(browser.principal).permits(.read, hub.directory.device(happening.deviceID))
        else { return nil }
        return browser
    }

    /// Sends a notification that somebody tries, once.
    /// - Throws: `resourceExhausted` for too many of them.
    func sendTrial(
        to subscription: PushSubscription
    ) async throws(HomeError) -> (outcome: PushOutcome, problem: String?) {
        try trials.begin(for: subscription.principal, at: MonotonicClock.now)
        let sent = await send(PushHappening(kind: .test, deviceID: "", date: Date()), to: subscription)
        trials.end(for: subscription.principal)
        return sent
    }

    /// The path of a picture of now; nil where there is none soon enough.
    private func picture(of device: String) async -> String? {
        let snapshots = hub.signalling.snapshots
        // A camera that does not answer is not waited for, so the first of the two counts.
        let (first, continuation) = AsyncStream.makeStream(of: [UInt8]?.self)
        let taking = Task {
            var jpeg: [UInt8]?
            if let picture = try? await snapshots.snapshot(of: device, maximumWidth: Self.pictureWidth) {
                // The camera may have been switched off meanwhile.
                if (try? picture.permit?.check()) != nil || picture.permit == nil { jpeg = picture.jpeg }
                picture.permit?.end()
            }
            continuation.yield(jpeg)
        }
        let waiting = Task {
            try? await Task.sleep(for: Self.picturePatience)
            continuation.yield(nil)
        }
        defer {
            taking.cancel()
            waiting.cancel()
        }
        for await jpeg in first {
            guard let jpeg else { return nil }
            // Nobody has asked for it: it is one for all who are notified.
            let (id, token) = pictures.add(jpeg, of: device, for: "", at: MonotonicClock.now)
            return "/v1/push-pictures/\(id)/\(token).jpg"
        }
        return nil
    }
}

/// Passes on what browsers may be notified of. The hub calls it between two changes, so it only looks at the kind.
struct PushObserver: HomeObserver {
    let inbox: AsyncStream<PushHappening>.Continuation

    func watches(deviceID: String) -> Bool { true }

    func take(_ observation: HomeObservation) {
        guard case .event(let device, _, _, let name, let fields) = observation else { return }
        let kind: PushHappening.Kind
        if name == Google.DoorbellPressTrait.DoorbellPressedEvent.name {
            kind = .doorbell
        } else if let detection = DetectionKind.allCases.first(where: { $0.eventName == name }) {
            // Nobody is notified of the end of a stay.
            guard fields["phase"] != .text(DetectionPhase.ended.rawValue) else { return }
            kind = .detection(detection)
        } else {
            return
        }
        inbox.yield(PushHappening(kind: kind, deviceID: device, date: Date()))
    }
}

/// Runs the notifications as long as the gateway.
struct PushRunner: Service {
    let push: PushService

    func run() async throws {
        await withGracefulShutdownHandler {
            await push.run()
        } onGracefulShutdown: {
            push.stop()
        }
    }
}
