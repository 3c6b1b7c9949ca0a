import Foundation
import HomeHub
import HomeTypes
import Logging
import Signalling
import Transport

/// The browsers that want to be notified. Changes happen one after the other and are on the disk before they count.
actor PushSubscriptions {
    /// How many there are at most, and of one principal.
    static let shares = PlaceShares(total: 64)
    /// After so many refusals in a row a browser is forgotten: its service does not take messages for it.
    static let patience = 8

    private struct Stored {
        var subscription: PushSubscription
        var version: Int64
    }

    private let store: (any SharedStore)?
    private let isRightless: @Sendable (String) -> Bool
    private let logger: Logger
    private var stored: [String: Stored] = [:]

    /// Reads what the store keeps.
    /// - Parameters:
    ///   - store: keeps the subscriptions; nil to keep them until the gateway stops.
    ///   - isRightless: whether a principal may do nothing now. Its browsers give way to those of others.
    init(
        store: (any SharedStore)?, isRightless: @escaping @Sendable (String) -> Bool = { _ in false }, logger: Logger
    ) {
        self.store = store
        self.isRightless = isRightless
        self.logger = logger
        do throws(StoreFailure) {
            for object in try store?.objects(PushSubscription.kind) ?? [] {
                // One that cannot be read is of no use. Its browser subscribes again when its page is opened.
                guard let subscription = try? PushSubscription(json: object.body) else { continue }
                stored[object.id] = Stored(subscription: subscription, version: object.version)
            }
        } catch {
            logger.error("the browsers to notify cannot be read", metadata: ["reason": "\(error)"])
        }
    }

    /// All subscriptions, the oldest first.
    var all: [PushSubscription] {
        stored.values.map(\.subscription).sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Whether nobody wants to be notified.
    var isEmpty: Bool { stored.isEmpty }

    /// The subscriptions of a principal, the oldest first.
    func all(of principal: String) -> [PushSubscription] { all.filter { $0.principal == principal } }

    /// One subscription of a principal.
    func subscription(_ id: String, of principal: String) throws(HomeError) -> PushSubscription {
        guard let found = stored[id]?.subscription, found.principal == principal else {
            throw .notFound("no browser of yours has this id; GET /v1/push-subscriptions lists them")
        }
        return found
    }

    /// Adds a browser, or changes what it wants. A browser has one subscription: a person who signs in there takes it over.
    func put(
        _ endpoint: PushEndpoint, _ recipient: PushEncryption.Recipient, _ wishes: PushSubscription.Wishes,
        page: String, for principal: String, at now: Date
    ) throws(HomeError) -> (subscription: PushSubscription, isNew: Bool) {
        if var known = stored.values.first(where: { $0.subscription.endpoint == endpoint.url }) {
            if known.subscription.principal != principal {
                try makePlace(for: principal, takingOver: known.subscription.id)
                known.subscription.createdAt = now
            }
            known.subscription.principal = principal
            known.subscription.recipient = recipient
            known.subscription.wishes = wishes
            known.subscription.page = page
            known.subscription.refusals = 0
            return (try write(known), false)
        }
        try makePlace(for: principal)
        let made = PushSubscription(
            id: TokenRegistry.newID(prefix: "p"), principal: principal, endpoint: endpoint.url, recipient: recipient,
            wishes: wishes, page: page, createdAt: now)
        return (try write(Stored(subscription: made, version: 0)), true)
    }

    /// Changes what a browser wants.
    func change(
        _ id: String, of principal: String, to wishes: PushSubscription.Wishes
    ) throws(HomeError) -> PushSubscription {
        _ = try subscription(id, of: principal)
        guard var known = stored[id] else { throw .notFound("no browser of yours has this id") }
        known.subscription.wishes = wishes
        return try write(known)
    }

    /// Forgets a browser of a principal.
    func remove(_ id: String, of principal: String) throws(HomeError) {
        _ = try subscription(id, of: principal)
        try forget(id)
    }

    /// Forgets the browsers of a principal that may see nothing any more.
    /// - Parameter last: only those that were registered until then; nil for all.
    func end(of principal: String, madeUntil last: Date? = nil) {
        for subscription in all(of: principal) where last.map({ subscription.createdAt <= $0 }) ?? true {
            do throws(HomeError) { try forget(subscription.id) } catch {
                logger.error("a browser to notify cannot be removed", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// What came of a message. Nothing that is lost here matters: the next message brings it again.
    func record(_ outcome: PushOutcome, of id: String) {
        guard var known = stored[id] else { return }
        switch outcome {
        case .accepted where known.subscription.refusals == 0, .failed: return
        case .accepted: known.subscription.refusals = 0
        case .gone:
            try? forget(id)
            return
        case .refused:
            known.subscription.refusals += 1
            if known.subscription.refusals >= Self.patience {
                try? forget(id)
                return
            }
        }
        _ = try? write(known)
    }

    /// Fails unless a principal may have one more browser. If others have all places, those without rights give way,
    /// the oldest first.
    /// - Parameter id: the browser that the principal takes over; nil for a new one.
    private func makePlace(for principal: String, takingOver id: String? = nil) throws(HomeError) {
        let others = all.filter { $0.id != id }
        var left = others
        var idle = others.filter { isRightless($0.principal) }[...]
        while let refusal = Self.shares.refusal(of: principal, holders: left.map(\.principal)) {
            guard let next = idle.popFirst() else {
                throw .resourceExhausted("too many browsers are notified: \(refusal.words); remove one first")
            }
            left.removeAll { $0.id == next.id }
        }
        // Only once it is known that this makes a place.
        for given in others where !left.contains(given) { try forget(given.id) }
    }

    private func write(_ changed: Stored) throws(HomeError) -> PushSubscription {
        var written = changed
        let id = changed.subscription.id
        if let store {
            do {
                let version = try store.write(
                    PushSubscription.kind, id, try changed.subscription.json(), expecting: changed.version)
                guard let version else { throw HomeError.aborted("the browser has been changed; try again") }
                written.version = version
            } catch let error as HomeError {
                throw error
            } catch {
                throw .unavailable("the browser to notify cannot be stored: \(error)")
            }
        }
        stored[id] = written
        return written.subscription
    }

    private func forget(_ id: String) throws(HomeError) {
        guard let known = stored[id] else { return }
        if let store {
            do throws(StoreFailure) {
                _ = try store.delete(PushSubscription.kind, id, expecting: known.version)
            } catch {
                throw .unavailable("the browser to notify cannot be removed: \(error)")
            }
        }
        stored[id] = nil
    }
}

/// What came of a message to a browser.
enum PushOutcome: Sendable, Equatable {
    /// The service has it.
    case accepted
    /// The browser does not exist any more.
    case gone
    /// The service does not take this message.
    case refused(status: Int)
    /// The service did not answer, or has no room now.
    case failed(retryAfter: Duration?)
}
