import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// A token as the API shows it.
struct ListedToken: Codable {
    var id: String
    var name: String
    var grants: [Access.Grant]
    var createdAt: Date
    var expiresAt: Date?
    var hasPassword: Bool?
    var token: String?

    /// The grants for a person, for example `read, media on front-door`.
    /// - Parameter shown: the device or structure of an identifier, as it is shown.
    func permits(naming shown: (String) -> String) -> String {
        grants.map { grant in
            let scopes = Caller.Scope.allCases.filter(grant.scopes.contains).map(\.rawValue).joined(separator: ", ")
            if let device = grant.deviceID { return "\(scopes) on \(shown(device))" }
            if let structure = grant.structureID { return "\(scopes) in \(shown(structure))" }
            return "\(scopes) everywhere"
        }.joined(separator: "; ")
    }
}

/// The response to `GET /v1/tokens`.
private struct TokenList: Decodable {
    var tokens: [ListedToken]
    var fileTokens: [String]
}

extension GatewayConnection {
    /// The identifier of the token that people name by it, by its beginning, or by the token's name. The gateway decides
    /// about a text that is none of these, and where the caller may not list the tokens.
    /// - Throws: `invalidArgument` for what several tokens have, and what the gateway answers.
    fileprivate func tokenID(_ text: String) async throws(HomeError) -> String {
        let tokens: [ListedToken]
        do throws(HomeError) {
            tokens = try decode(TokenList.self, try await get("/v1/tokens")).tokens
        } catch {
            guard error.code == .permissionDenied else { throw error }
            return text
        }
        if tokens.contains(where: { $0.id == text }) { return text }
        let named = try HomeOverview.meant(text, in: tokens, "tokens", id: \.id, name: \.name)
        guard named.count < 2 else {
            throw .invalidArgument(
                "\(named.count) tokens are called \(text); use one of these ids: "
                    + named.map(\.id).joined(separator: ", "))
        }
        return named.first?.id ?? text
    }
}

extension GatewayConnection {
    /// What a token permits that was made or changed just now. If the gateway does not say what the devices are called, their
    /// identifiers are shown: a token that is shown only once must not be lost.
    fileprivate func permits(of token: ListedToken) async -> String {
        let keys = (try? await keys(of: token.grants)) ?? [:]
        return token.permits(naming: { keys[$0] ?? $0 })
    }
}

/// What a token permits, as options.
struct GrantOptions: ParsableArguments {
    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("What it permits: read, control, media, view, admin, automate, unlock.", valueName: "scope"))
    var scope: [Caller.Scope] = []

    @Option(
        help: ArgumentHelp(
            "Only for this device, by its key, id or name; may be given more than once.", valueName: "device"))
    var device: [String] = []

    @Option(
        help: ArgumentHelp(
            "Only in this structure, by its id or name; may be given more than once.", valueName: "structure"))
    var structure: [String] = []

    @Option(help: ArgumentHelp("How long it works from now, for example 90d, 12h or 30m.", valueName: "time"))
    var expires: String?

    /// The grants: the scopes for each device and structure, or for the whole home.
    /// - Throws: `notFound` for a device or a structure that the home does not have.
    func grants(_ connection: GatewayConnection) async throws(HomeError) -> [Access.Grant] {
        let scopes = Set(scope)
        var places: [Access.Grant] = []
        for text in device {
            places.append(Access.Grant(scopes, deviceID: try await connection.device(named: text)?.id ?? text))
        }
        if !structure.isEmpty {
            let home = try await HomeOverview(connection)
            for text in structure {
                places.append(Access.Grant(scopes, structureID: try home.structure(named: text).id))
            }
        }
        return places.isEmpty ? [Access.Grant(scopes)] : places
    }

    /// The time in seconds.
    func expiresInSeconds() throws -> Int64? {
        guard let expires else { return nil }
        return try Self.seconds(expires, option: "--expires")
    }

    /// The seconds of a time like 90d, 12h or 30m.
    static func seconds(_ text: String, option: String) throws -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...315_360_000).contains(count.multipliedReportingOverflow(by: unit).partialValue)
        else { throw ValidationError("\(option): \(text) is not a time like 90d, 12h or 30m") }
        return count * unit
    }
}

extension Caller.Scope: ExpressibleByArgument {}

/// The body of a request that makes or changes a token.
struct TokenSettings: Encodable {
    var name: String?
    var grants: [Access.Grant]?
    var expiresInSeconds: Int64?
    var password: String?
}

/// `gatehouse token list`.
struct TokenListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the tokens, and what they permit.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let data = try await connection.get("/v1/tokens")
            if json { return printJSON(data) }
            let list = try connection.decode(TokenList.self, data)
            var table = TerminalTable(header: ["ID", "NAME", "PERMITS", "UNTIL"], whole: ["ID", "UNTIL"])
            let ids = ShownIdentifiers(list.tokens.map(\.id))
            let places = ShownIdentifiers(list.tokens.flatMap(\.grants).compactMap { $0.deviceID ?? $0.structureID })
            // Owners name a device by its key.
            let keys = try await connection.keys(of: list.tokens.flatMap(\.grants))
            for name in list.fileTokens { table.add(["in the file", name, "everything", "always"]) }
            for one in list.tokens {
                let until = one.expiresAt.map { ISO8601DateFormatter().string(from: $0) } ?? "it is revoked"
                table.add([ids[one.id], one.name, one.permits(naming: { keys[$0] ?? places[$0] }), until])
            }
            print(table.text)
        }
    }
}

/// `gatehouse token create`.
struct TokenCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a token for an app or a person, and show it once.")

    @Argument(help: "Who the token is for. Lists and logs show this name.")
    var name: String

    @Flag(help: "Ask for a password that a person signs in with, instead of making a token for a program.")
    var password = false

    @OptionGroup var options: GrantOptions

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard !options.scope.isEmpty else {
            throw ValidationError(
                "--scope is missing; name at least one of read, control, media, view, admin, automate, unlock")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        // A wrong name is refused before somebody types a password.
        let grants = try await reportingHomeErrors { try await options.grants(connection) }
        let body = try JSONEncoder().encode(
            TokenSettings(
                name: name, grants: grants, expiresInSeconds: try options.expiresInSeconds(),
                password: password ? try enteredPassword() : nil))
        try await reportingHomeErrors {
            let data = try await connection.post("/v1/tokens", contentType: "application/json", body: body)
            if json { return printJSON(data) }
            let made = try connection.decode(ListedToken.self, data)
            // First of all: nobody can read it again, and the names of the devices take another request.
            if let token = made.token { print(token) }
            let permits = await connection.permits(of: made)
            guard made.token != nil else {
                return printError("\(made.name) signs in with this name and the password: \(permits).")
            }
            printError("Token \(made.id) for \(made.name): \(permits). It is shown only once.")
        }
    }
}

/// `gatehouse token grant`.
struct TokenGrantCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Replace what a token permits, or how long it works.")

    @Argument(help: "The token, by its id or name.")
    var id: String

    @Flag(help: "Ask for a new password. Everybody who has signed in with the old one is signed out.")
    var password = false

    @OptionGroup var options: GrantOptions

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    func validate() throws {
        guard !options.scope.isEmpty || options.expires != nil || password else {
            throw ValidationError("nothing to change; give --scope, --expires or --password")
        }
    }

    func run() async throws {
        let connection = try gateway.connect()
        // A wrong name is refused before somebody types a password.
        let (token, grants) = try await reportingHomeErrors { () async throws -> (String, [Access.Grant]?) in
            let token = try await connection.tokenID(id)
            guard !options.scope.isEmpty else { return (token, nil) }
            return (token, try await options.grants(connection))
        }
        let body = try JSONEncoder().encode(
            TokenSettings(
                grants: grants, expiresInSeconds: try options.expiresInSeconds(),
                password: password ? try enteredPassword() : nil))
        try await reportingHomeErrors {
            let data = try await connection.patch("/v1/tokens/\(GatewayConnection.segment(token))", body: body)
            if json { return printJSON(data) }
            let changed = try connection.decode(ListedToken.self, data)
            print(await connection.permits(of: changed))
        }
    }
}

/// `gatehouse token revoke`.
struct TokenRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a token. Its streams and live views end.")

    @Argument(help: "The token, by its id or name, from gatehouse token list.")
    var id: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let token = try await connection.tokenID(id)
            try await connection.delete("/v1/tokens/\(GatewayConnection.segment(token))")
        }
    }
}
