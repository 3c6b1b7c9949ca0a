import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Stations
import Transport

/// Notifications for browsers whose page is closed (Web Push).
extension GatewayAPI {
    /// The response to `GET /v1/push`.
    struct PushAnswer: Codable, Sendable, Equatable {
        /// The key for which browsers subscribe.
        var publicKey: String
    }

    /// A browser as the API shows it. Its address is a secret and is not shown.
    struct PushSubscriptionAnswer: Codable, Sendable, Equatable {
        var id: String
        var createdAt: Date
        /// The host of the push service.
        var service: String
        var wishes: PushSubscription.Wishes

        init(_ subscription: PushSubscription) {
            self.id = subscription.id
            self.createdAt = subscription.createdAt
            self.service = URLComponents(string: subscription.endpoint)?.host ?? ""
            self.wishes = subscription.wishes
        }
    }

    struct PushSubscriptionList: Codable, Sendable, Equatable {
        var subscriptions: [PushSubscriptionAnswer]
    }

    /// The response to a message that somebody tries.
    struct PushTrial: Codable, Sendable, Equatable {
        var isAccepted: Bool
        /// Why not.
        var reason: String?
    }

    /// What a browser sends: its subscription as it has it, and what it wants.
    private struct PushRequest: Decodable {
        struct Keys: Decodable {
            var p256dh: String
            var auth: String
        }

        var endpoint: String
        var keys: Keys
        var wishes: PushWishes?
    }

    private struct PushWishes: Decodable {
        var doorbell: Bool?
        var detections: [String]?
        var devices: [String]?
        var picture: Bool?
    }

    func addPushRoutes(to router: Router<GatewayRequestContext>, addresses: AbsoluteAddresses) {
        router.get("/v1/push") { _, _ in
            try JSONBody.response(PushAnswer(publicKey: try requirePush().vapid.publicKey))
        }
        router.get("/v1/push-subscriptions") { _, context in
            let own = try await requirePush().subscriptions.all(of: principal(context))
            return try JSONBody.response(PushSubscriptionList(subscriptions: own.map(PushSubscriptionAnswer.init)))
        }
        router.post("/v1/push-subscriptions") { request, context in
            let push = try requirePush()
            try Self.requireEncryption(request, addresses, context)
            let given = try await JSONBody.read(PushRequest.self, from: request)
            guard try !authorization(context).access.isViewingOnly else {
                throw HomeError.notGranted("this token permits only watching; notifications need the scope read")
            }
            let endpoint = try PushEndpoint(given.endpoint, services: push.settings.services)
            let (subscription, isNew) = try await push.subscriptions.put(
                endpoint, Self.recipient(given.keys), wishes(given.wishes), page: Self.page(request, addresses),
                for: principal(context), at: Self.wholeSeconds(Date()))
            return try JSONBody.response(
                PushSubscriptionAnswer(subscription), status: isNew ? .created : .ok)
        }
        router.patch("/v1/push-subscriptions/:subscription") { request, context in
            let push = try requirePush()
            let given = try await JSONBody.read(PushWishes.self, from: request)
            let id = try context.parameters.require("subscription")
            let before = try await push.subscriptions.subscription(id, of: principal(context)).wishes
            let changed = try await push.subscriptions.change(
                id, of: principal(context), to: wishes(given, before: before))
            return try JSONBody.response(PushSubscriptionAnswer(changed))
        }
        router.delete("/v1/push-subscriptions/:subscription") { _, context in
            try await requirePush().subscriptions.remove(
                context.parameters.require("subscription"), of: principal(context))
            return Response(status: .noContent)
        }
        router.post("/v1/push-subscriptions/:subscription/test") { _, context in
            let push = try requirePush()
            let subscription = try await push.subscriptions.subscription(
                context.parameters.require("subscription"), of: principal(context))
            let (outcome, problem) = try await push.sendTrial(to: subscription)
            return try JSONBody.response(PushTrial(isAccepted: outcome == .accepted, reason: problem))
        }
        router.get("/v1/push-pictures/:picture/:file") { _, context in
            let file = try context.parameters.require("file")
            guard let push, file.hasSuffix(".jpg"),
                let picture = try push.pictures.picture(
                    context.parameters.require("picture"), token: String(file.dropLast(4)), at: MonotonicClock.now)
            else { throw HomeError.notFound("the picture does not exist, or has expired") }
            return try Self.response(picture.jpeg, try await permitToShow(picture.device, as: .snapshot))
        }
    }

    private func requirePush() throws(HomeError) -> PushService {
        guard let push else { throw .unimplemented("this gateway sends no notifications; the config says push: false") }
        return push
    }

    /// Browsers notify only pages that came encrypted, perhaps to a proxy, or from the same machine.
    private static func requireEncryption(
        _ request: Request, _ addresses: AbsoluteAddresses, _ context: GatewayRequestContext
    ) throws(HomeError) {
        let isLocal = context.remoteHost.flatMap { TransportAddress(literal($0), port: 1) }?.isLoopback ?? false
        let isProxied = request.headers[.origin]?.hasPrefix("https://") == true
        guard addresses.base(of: request).hasPrefix("https://") || isLocal || isProxied else {
            throw .failedPrecondition("notifications need HTTPS: open the page with https://")
        }
    }

    /// The page, by which push services reach the gateway's administrator (RFC 8292, section 2.1).
    private static func page(_ request: Request, _ addresses: AbsoluteAddresses) -> String {
        if let origin = request.headers[.origin], origin.hasPrefix("https://") { return origin }
        let base = addresses.base(of: request)
        return base.hasPrefix("https://") ? base : "https://\(request.head.authority ?? "localhost")"
    }

    private static func recipient(_ keys: PushRequest.Keys) throws(HomeError) -> PushEncryption.Recipient {
        guard let key = Base64URL.bytes(keys.p256dh), key.count == P256Key.publicKeyLength, key.first == 4,
            let secret = Base64URL.bytes(keys.auth), secret.count == 16
        else {
            throw .invalidArgument("keys: expected p256dh, a point of P-256, and auth, 16 bytes, both in base64url")
        }
        let recipient = PushEncryption.Recipient(publicKey: key, secret: secret)
        do {
            _ = try PushEncryption().encrypted([], for: recipient)
        } catch {
            throw .invalidArgument("keys.p256dh is not a point of P-256")
        }
        return recipient
    }

    private func wishes(
        _ given: PushWishes?, before: PushSubscription.Wishes = .init()
    ) throws(HomeError) -> PushSubscription.Wishes {
        var wishes = before
        guard let given else { return wishes }
        if let doorbell = given.doorbell { wishes.doorbell = doorbell }
        if let picture = given.picture { wishes.picture = picture }
        if let detections = given.detections {
            var kinds: [DetectionKind] = []
            for text in detections {
                guard let kind = DetectionKind(rawValue: text) else {
                    let known = DetectionKind.allCases.map(\.rawValue).joined(separator: ", ")
                    throw .invalidArgument("wishes.detections: expected some of \(known)")
                }
                if !kinds.contains(kind) { kinds.append(kind) }
            }
            wishes.detections = kinds
        }
        if let devices = given.devices {
            guard devices.count <= 256 else { throw .invalidArgument("wishes.devices has more than 256 entries") }
            wishes.devices = devices.isEmpty ? nil : devices.map { hub.names.id(of: String($0.prefix(64))) }
        }
        return wishes
    }
}
