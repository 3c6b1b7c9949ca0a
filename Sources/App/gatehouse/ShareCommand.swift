import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse share`: makes a link with which somebody may watch a camera until a date.
struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Make a link that lets somebody watch a camera until a date.",
        discussion: """
            Anyone who has the link can see and hear the camera live, and nothing else. gatehouse token list shows the \
            links that work, and gatehouse token revoke revokes one.
            """)

    @Argument(help: "The cameras, by their keys, ids or names; the link opens the first one and leads to the others.")
    var devices: [String]

    @Option(
        help: ArgumentHelp("When it expires, such as 2026-12-24 or 2026-12-24T18:00, local time.", valueName: "date"))
    var until: String?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("How long it works, for example 7d or 12h.", valueName: "time"))
    var duration: String?

    @Option(help: "Who the link is for. Lists and logs show this name.")
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The gateway's address as others reach it, for example https://home.example:8443.", valueName: "url"))
    var address: String?

    @Option(help: ArgumentHelp("Write the QR code to this file as SVG instead of to the terminal.", valueName: "file"))
    var svg: String?

    @Flag(help: "Draw the QR code for a terminal with a light background.")
    var light = false

    @Flag(help: "Print JSON instead of the code and the link.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    /// A link as a script reads it.
    private struct Made: Encodable {
        /// The identifier of the token in the link.
        var id: String
        var name: String
        var link: String
        var expiresAt: Date?
        /// The cameras, by what the link and commands call them.
        var cameras: [String]
    }

    func validate() throws {
        guard (until == nil) != (duration == nil) else {
            throw ValidationError("say when the link ends: --until 2026-12-24, or --for 7d")
        }
        _ = try seconds(from: Date())
        if let address, !Self.isAddress(address) {
            throw ValidationError("--address: \(address) is not an address like https://home.example:8443")
        }
    }

    /// Whether a text is an http or https address to which a path can be added.
    private static func isAddress(_ text: String) -> Bool {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme)
        else { return false }
        return parts.host?.isEmpty == false && parts.user == nil && parts.query == nil && parts.fragment == nil
    }

    func run() async throws {
        // The link is shown only once, so it is not made before there is a place for its code.
        if let svg { try reportingFailures { try OutputFile.check(svg) } }
        let connection = try gateway.connect()
        let cameras = try await reportingHomeErrors { try await self.cameras(connection) }
        let settings = TokenSettings(
            name: name ?? "link to \(devices[0]) \(String(UInt32.random(in: .min ... .max), radix: 16))",
            grants: cameras.map { Access.Grant([.view], deviceID: $0.id) }, expiresInSeconds: try seconds(from: Date()))
        let reached = if let address { address } else { try await publicURL(connection) }
        let made = try await reportingHomeErrors {
            let data = try await connection.post(
                "/v1/tokens", contentType: "application/json", body: JSONEncoder().encode(settings))
            return try connection.decode(ListedToken.self, data)
        }
        let base = reached.trimmingSuffix("/")
        let link = "\(base)/camera/\(GatewayConnection.segment(cameras[0].label))#token=\(made.token ?? "")"
        let code = QRCode(link)
        if json {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let shown = Made(
                id: made.id, name: made.name, link: link, expiresAt: made.expiresAt, cameras: cameras.map { $0.label })
            printJSON(try encoder.encode(shown))
        } else {
            if svg == nil, let code { print(code.text(isInverted: light)) }
            print(link)
        }
        let end = made.expiresAt.map { $0.formatted(date: .abbreviated, time: .shortened) } ?? "it is revoked"
        printError("Link \(made.id) of \(made.name) works until \(end). It is shown only once.")
        if address == nil, base.contains("://127.") || base.contains("://localhost") || base.contains("://[::1]") {
            printError("This address works only on this machine. Give one that others can reach with --address.")
        }
        // Without --svg, a script has not asked for a code.
        if json, svg == nil { return }
        guard let code else {
            printError("gatehouse: the link is too long for a QR code; give a shorter --address")
            // Without --svg, the link itself is what was asked for.
            if svg != nil { throw ExitCode.failure }
            return
        }
        // The file holds a secret, so only its owner may read it.
        if let svg { try reportingFailures { try OutputFile.replace(Array(code.svg.utf8), at: svg) } }
    }

    /// The cameras of the link, each with its id and with what its path says.
    private func cameras(_ connection: GatewayConnection) async throws(HomeError) -> [(id: String, label: String)] {
        var cameras: [(id: String, label: String)] = []
        for text in devices {
            guard let device = try await connection.device(named: text) else {
                // The token may not read it: the gateway decides.
                cameras.append((text, text))
                continue
            }
            guard device.source != nil else {
                throw .failedPrecondition("\(device.name) is not a camera, so a link could not show it")
            }
            cameras.append((device.id, device.label))
        }
        return cameras
    }

    /// Where others reach the gateway: what its config says (`http.publicURL`), or the address that this command uses.
    private func publicURL(_ connection: GatewayConnection) async throws -> String {
        struct Answer: Decodable {
            var publicURL: String?
        }
        return try await reportingHomeErrors {
            try connection.decode(Answer.self, try await connection.get("/v1/gateway")).publicURL ?? connection.address
        }
    }

    private func seconds(from now: Date) throws -> Int64 {
        if let duration { return try GrantOptions.seconds(duration, option: "--for") }
        guard let end = until.flatMap({ ShareEnd.date($0, zone: .current) }) else {
            throw ValidationError("--until: \(until ?? "") is not a date like 2026-12-24 or 2026-12-24T18:00")
        }
        let seconds = Int64(end.timeIntervalSince(now).rounded())
        guard (1...315_360_000).contains(seconds) else {
            throw ValidationError("--until: \(until ?? "") is in the past, or more than ten years away")
        }
        return seconds
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
