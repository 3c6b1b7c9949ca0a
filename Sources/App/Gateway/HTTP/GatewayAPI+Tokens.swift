import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird
import Signalling
import Transport

/// Who may use the home: tokens with their grants.
extension GatewayAPI {
    /// A token as the API shows it. The secret is only in the response that made it.
    struct TokenAnswer: Codable, Sendable, Equatable {
        var id: String
        var name: String
        var grants: [Access.Grant]
        var createdAt: Date
        var createdBy: String
        var expiresAt: Date?
        /// When it was used last; missing when it was not used since the gateway started.
        var lastUsedAt: Date?
        var clientID: String?
        /// Whether a person signs in for it with a password.
        var hasPassword: Bool?
        /// The token itself, once.
        var token: String?

        init(_ record: TokenRecord, lastUsedAt: Date? = nil, token: String? = nil) {
            self.id = record.id
            self.name = record.name
            self.grants = record.access.grants
            self.createdAt = record.createdAt
            self.createdBy = record.createdBy
            self.expiresAt = record.expiresAt
            self.lastUsedAt = lastUsedAt.map(GatewayAPI.wholeSeconds)
            self.clientID = record.clientID
            self.hasPassword = record.password == nil ? nil : true
            self.token = token
        }
    }

    /// The response to `GET /v1/tokens`.
    struct TokenList: Codable, Sendable, Equatable {
        var tokens: [TokenAnswer]
        /// The principals of the file `token`, which may do everything.
        var fileTokens: [String]
    }

    /// The response to `GET /v1/access`: what the caller's own token permits.
    struct AccessAnswer: Codable, Sendable, Equatable {
        var principal: String
        var grants: [Access.Grant]
        var expiresAt: Date?
        /// The devices that the grants name, and the cameras that the token may watch and not read.
        var devices: [NamedDevice]
    }

    /// What people call a device.
    struct NamedDevice: Codable, Sendable, Equatable {
        var id: String
        var key: String
        var name: String
        /// Whether it is a camera that the token may watch; missing for other devices.
        var isCamera: Bool?
        /// Whether the camera runs on a battery, so that it should not be woken up without need; missing if not.
        var isOnBattery: Bool?
    }

    /// The body of `POST` and `PATCH`.
    private struct TokenSettings: Codable, Sendable {
        var name: String?
        var grants: [Access.Grant]?
        var expiresInSeconds: Int64?
        var password: String?
    }

    func addTokenRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/access") { _, context in
            let authorization = try self.authorization(context)
            return try JSONBody.response(
                AccessAnswer(
                    principal: authorization.principal, grants: authorization.access.grants,
                    expiresAt: authorization.expiresAt, devices: await namedDevices(of: authorization.access)))
        }
        router.get("/v1/tokens") { _, _ in
            try JSONBody.response(
                TokenList(
                    tokens: tokens.all.map { TokenAnswer($0.record, lastUsedAt: tokens.lastUse(of: $0.record.id)) },
                    fileTokens: tokens.file.holders.map(\.name)))
        }
        router.post("/v1/tokens") { request, context in
            let data = try await JSONBody.data(from: request)
            let settings = try JSONBody.decode(TokenSettings.self, data)
            let caller = try authorization(context)
            return try await makeOnce("token", for: request, context, parameters: data) {
                let (made, secret) = try await make(settings, by: caller)
                return try Made(
                    TokenAnswer(made.record, token: secret), location: "/v1/tokens/\(made.record.id)",
                    entityTag: Self.entityTag(made))
            }
        }
        router.get("/v1/tokens/:token") { _, context in
            try response(tokens.token(context.parameters.require("token")))
        }
        router.patch("/v1/tokens/:token") { request, context in
            let id = try context.parameters.require("token")
            let settings = try await JSONBody.read(TokenSettings.self, from: request)
            let caller = try authorization(context)
            let stored = try tokens.token(id)
            guard settings.name == nil || settings.name == stored.record.name else {
                throw HomeError.invalidArgument("name: a token keeps its name; make another token instead")
            }
            // A caller that has less than the token may not touch it: taking scopes away would be a right of its own.
            try requireCovered(stored.record.access, by: caller)
            let access = try settings.grants.map { try self.access($0, by: caller) }
            if let access { try await requireKnown(access, except: stored.record.access) }
            let expiresAt = try settings.expiresInSeconds.map { try expiry($0, by: caller) }
            if access != nil { try requireEnd(expiresAt ?? stored.record.expiresAt, by: caller) }
            guard settings.password == nil || stored.record.password != nil else {
                throw HomeError.failedPrecondition("password: the token was made without one; make another token")
            }
            let gift = Gift(access: access, expiresAt: expiresAt, hasPassword: settings.password != nil)
            try requireMay(gift, to: stored.record, by: caller)
            let password = try await hash(settings.password)
            let changed = try await tokens.change(id, expecting: Self.version(request)) { record throws(HomeError) in
                // Either token may have changed since the request came.
                try tokens.requireStill(caller, toGive: record.access)
                try requireMay(gift, to: record, by: caller)
                // A new password signs out everybody who knew the old one.
                if let password {
                    record.password = password
                    record.secrets = []
                }
                if let access { record.access = access }
                if let expiresAt { record.expiresAt = expiresAt }
                guard access != nil || expiresAt != nil else { return }
                try tokens.requireStill(caller, toGive: record.access, until: record.expiresAt)
            }
            return try response(changed)
        }
        router.delete("/v1/tokens/:token") { request, context in
            let id = try context.parameters.require("token")
            // Who does not have everything may have less than a token that cannot be read.
            let access = try tokens.isUnreadable(id) ? Access.everything : tokens.token(id).record.access
            try requireCovered(access, by: authorization(context))
            try await tokens.revoke(id, expecting: Self.version(request))
            return Response(status: .noContent)
        }
    }

    /// The devices that grants name, and the cameras that they let somebody watch who may not read them, in the order of the
    /// home.
    private func namedDevices(of access: Access) async -> [NamedDevice] {
        let named = Set(access.grants.compactMap(\.deviceID))
        return await hub.devices().compactMap { device in
            let object = hub.directory.device(device.id)
            let isWatched = device.source != nil && access.permits(.view, object)
            guard named.contains(device.id) || (isWatched && !access.permits(.read, object)) else { return nil }
            return NamedDevice(
                id: device.id, key: hub.names.label(of: device.id), name: device.name,
                isCamera: isWatched ? true : nil, isOnBattery: isWatched ? device.source?.isOnBattery : nil)
        }
    }

    private func make(
        _ settings: TokenSettings, by caller: Authorization
    ) async throws -> (TokenRegistry.Stored, secret: String?) {
        guard let name = settings.name, !name.isEmpty else {
            throw HomeError.invalidArgument("name is missing: say who will hold the token")
        }
        guard name.unicodeScalars.count <= TokenRegistry.longestName else {
            throw HomeError.invalidArgument("name is longer than \(TokenRegistry.longestName) characters")
        }
        if let fault = NameRules.fault(in: name) { throw HomeError.invalidArgument("name \(fault)") }
        guard let grants = settings.grants else {
            throw HomeError.invalidArgument(
                "grants is missing, for example [{\"scopes\":[\"read\"]}] to read everything in the home")
        }
        guard let secret = TokenStore.makeToken() else {
            throw HomeError.unavailable("the system's random source failed")
        }
        let access = try access(grants, by: caller)
        try await requireKnown(access, except: .nothing)
        let password = try await hash(settings.password)
        let record = TokenRecord(
            id: TokenRegistry.newID(), name: name, access: access,
            createdAt: Self.wholeSeconds(tokens.now()), createdBy: caller.principal,
            expiresAt: try settings.expiresInSeconds.map { try expiry($0, by: caller) } ?? (try end(of: caller)),
            password: password,
            secrets: password == nil ? [.init(kind: .access, digest: TokenRegistry.digest(of: secret))] : [])
        return (try await tokens.add(record, by: caller), password == nil ? secret : nil)
    }

    /// The hash of a password; nil where none is given.
    private func hash(_ password: String?) async throws -> PasswordHash? {
        guard let password else { return nil }
        return try await passwords.hash(password)
    }

    /// The grants that somebody asks for, which may not be more than the caller has.
    func access(_ grants: [Access.Grant], by caller: Authorization) throws(HomeError) -> Access {
        guard (1...64).contains(grants.count) else {
            throw .invalidArgument("grants must have 1 to 64 entries; to take everything away, revoke the token")
        }
        for (index, grant) in grants.enumerated() {
            guard !grant.scopes.isEmpty else { throw .invalidArgument("grants[\(index)].scopes is empty") }
            guard grant.structureID == nil || grant.deviceID == nil else {
                throw .invalidArgument("grants[\(index)] names a structure and a device; give only one of them")
            }
        }
        // A grant may name a device by its key, and lasts through a new key.
        let access = Access(
            grants.map { grant in
                var grant = grant
                grant.deviceID = grant.deviceID.map { hub.names.id(of: $0) }
                return grant
            })
        try requireCovered(access, by: caller)
        return access
    }

    private func requireCovered(_ access: Access, by caller: Authorization) throws(HomeError) {
        guard caller.access.includes(access, structureOf: { hub.directory.structure(ofDevice: $0) }) else {
            throw .notGranted("the token of \(caller.principal) does not have all of these scopes itself")
        }
    }

    /// What somebody wants to give a token; nil for what stays.
    private struct Gift: Sendable {
        var access: Access?
        var expiresAt: Date?
        var hasPassword: Bool
    }

    /// Fails if somebody gives more rights, more time or a password to a token that somebody else has made. It would keep
    /// them when the token of the one who gave them is revoked.
    private func requireMay(
        _ gift: Gift, to record: TokenRecord, by caller: Authorization
    ) throws(HomeError) {
        guard !caller.isOwner, record.createdBy != caller.principal else { return }
        let hasMore =
            gift.access.map { !record.access.includes($0, structureOf: { hub.directory.structure(ofDevice: $0) }) }
            ?? false
        let hasTime = gift.expiresAt.map { TokenRecord.outlives($0, record.expiresAt) } ?? false
        guard hasMore || hasTime || (gift.hasPassword && record.name != caller.principal) else { return }
        throw .permissionDenied(
            "only the owner, and the one who has made a token, can give it more rights, more time or a password; "
                + "make another token")
    }

    /// When the token of somebody ends; nil for one that does not. A person who has signed in has the end of their account here,
    /// and not that of the sign-in.
    /// - Throws: `notFound` for a token that was revoked meanwhile.
    private func end(of caller: Authorization) throws(HomeError) -> Date? {
        // The owner's own token has no record.
        guard let id = caller.tokenID else { return nil }
        return try tokens.token(id).record.expiresAt
    }

    /// Refuses grants for what the home does not have: nobody could use them. A caller who may not give a grant anyway is
    /// refused before, and learns nothing here.
    /// - Parameter stored: what the token permits already; it may be for a device that has been removed.
    private func requireKnown(_ access: Access, except stored: Access) async throws(HomeError) {
        for grant in access.grants {
            let isStored = stored.grants.contains {
                $0.deviceID == grant.deviceID && $0.structureID == grant.structureID
            }
            if isStored { continue }
            if let structure = grant.structureID { _ = try await hub.structure(structure) }
            // A device that its bridge has not announced since the start has a record.
            if let device = grant.deviceID, hub.directory.record(ofDevice: device) == nil {
                _ = try await hub.device(device)
            }
        }
    }

    /// When a token ends that somebody makes or changes: not after their own.
    private func expiry(_ seconds: Int64, by caller: Authorization) throws(HomeError) -> Date {
        guard (1...315_360_000).contains(seconds) else {
            throw .invalidArgument("expiresInSeconds must be from 1 second to ten years")
        }
        let end = Self.wholeSeconds(Date().addingTimeInterval(Double(seconds)))
        if let own = try self.end(of: caller), end > own {
            throw .permissionDenied(
                "expiresInSeconds: your own token ends before that, and no token that you make may outlive it")
        }
        return end
    }

    /// Fails when a token that gets other rights outlives the token of the one who gives them.
    private func requireEnd(_ end: Date?, by caller: Authorization) throws(HomeError) {
        guard let own = try self.end(of: caller) else { return }
        if let end, end <= own { return }
        throw .permissionDenied(
            "grants: this token ends after your own, so you cannot give it other rights; set expiresInSeconds too")
    }

    /// The API writes times in whole seconds.
    static func wholeSeconds(_ date: Date) -> Date {
        Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }

    private func response(_ stored: TokenRegistry.Stored) throws -> Response {
        var response = try JSONBody.response(
            TokenAnswer(stored.record, lastUsedAt: tokens.lastUse(of: stored.record.id)))
        response.headers[.eTag] = Self.entityTag(stored)
        return response
    }

    private static func entityTag(_ stored: TokenRegistry.Stored) -> String { "\"\(stored.version)\"" }

    /// The version in the header `If-Match`; nil without the header or for any version.
    static func version(_ request: Request) throws(HomeError) -> Int64? {
        guard let condition = request.headers[.ifMatch]?.trimmingCharacters(in: .whitespaces), condition != "*" else {
            return nil
        }
        guard condition.hasPrefix("\""), condition.hasSuffix("\""),
            let version = Int64(condition.dropFirst().dropLast())
        else {
            throw .aborted("If-Match is not the current ETag; read the object again")
        }
        return version
    }

    /// What ends the things that a principal may no longer have.
    var enforcement: AccessEnforcement {
        AccessEnforcement(
            hub: hub, recordingLinks: recordingLinks, whipSessions: whipSessions, liveWatchers: liveWatchers,
            go2RTC: go2RTC, cameraStreams: cameraStreams, automationWatchers: automations.watchers,
            connections: shared.connections)
    }
}

/// Ends what a principal holds and may no longer have. The tokens keep it, so it must not keep the tokens: the home would
/// never be released, and its files would not be closed.
struct AccessEnforcement: Sendable {
    let hub: HomeHub
    let recordingLinks: RecordingLinks
    let whipSessions: WHEPSessions
    let liveWatchers: LiveWatchers
    let go2RTC: Go2RTCStreams
    let cameraStreams: CameraStreams
    let automationWatchers: AutomationWatchers
    let connections: ConnectionLedger

    /// Ends what a principal holds that it may no longer have. The hub ends streams and live views; the rest is here.
    func enforce(_ access: Access, on principal: String) async {
        let directory = hub.directory
        recordingLinks.end(of: principal) { access.permits(.media, directory.device($0)) }
        liveWatchers.end(of: principal) { access.permits(.view, directory.device($0)) }
        go2RTC.end(of: principal) { access.permits(.view, directory.device($0)) }
        cameraStreams.end(of: principal) { access.permits(.view, directory.device($0)) }
        automationWatchers.record(access, of: principal)
        await hub.signalling.publishing.endPublishers(of: principal) { access.permits(.media, directory.device($0)) }
        for (session, device) in await whipSessions.sessions(of: principal)
        where !access.permits(.media, directory.device(device)) {
            await whipSessions.remove(session)
        }
        await hub.enforce(access, on: principal)
        if access.grants.isEmpty { connections.disown(principal) }
    }
}
