import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// `gatehouse recordings endpoints`: where recordings can be uploaded to.
struct RecordingsEndpointsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "endpoints", abstract: "List, add, replace and delete the servers that recordings can go to.",
        discussion: """
            A connection names an endpoint by its id, as tlsEndpointID. Keys and secrets come from a file, from \
            standard input (-) or from the environment, never from the command line. They are stored on the gateway \
            and are never shown again.
            """,
        subcommands: [
            EndpointsListCommand.self, EndpointsAddCommand.self, EndpointsReplaceCommand.self,
            EndpointsDeleteCommand.self,
        ], defaultSubcommand: EndpointsListCommand.self)
}

/// The path of an endpoint, or of all.
private func endpointsPath(_ name: String? = nil) -> String {
    "/v1/upload-endpoints" + (name.map { "/" + GatewayConnection.segment($0) } ?? "")
}

/// The part of an endpoint that a person wants to see. It holds no secrets.
private struct ListedEndpoint: Decodable {
    struct Certificate: Decodable {
        var subject: String
        var expiresAt: String
    }

    var id: Int
    var name: String
    var kind: String
    var trustsSystemRoots: Bool
    var rootCertificates: [Certificate]
    var clientCertificate: Certificate?
    var region: String?
    var accessKeyId: String?

    /// How the gateway proves who it is.
    var proof: String {
        if let accessKeyId { return "\(accessKeyId) in \(region ?? "")" }
        return clientCertificate.map { "\($0.subject) until \($0.expiresAt)" } ?? "none"
    }

    /// Which servers are trusted.
    var trust: String {
        trustsSystemRoots ? "the system's" : rootCertificates.map(\.subject).joined(separator: ", ")
    }
}

/// `gatehouse recordings endpoints list`.
struct EndpointsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the endpoints, without their secrets.")

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var gateway: GatewayOptions

    private struct Answer: Decodable {
        var endpoints: [ListedEndpoint]
    }

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let data = try await connection.get(endpointsPath())
            if json { return printJSON(data) }
            let endpoints = try connection.decode(Answer.self, data).endpoints
            if endpoints.isEmpty {
                return print("There are no endpoints; gatehouse recordings endpoints add makes one.")
            }
            var table = TerminalTable(
                header: ["ID", "NAME", "KIND", "PROVES ITSELF WITH", "TRUSTED AUTHORITIES"], whole: ["ID", "NAME"])
            for one in endpoints { table.add(["\(one.id)", one.name, one.kind, one.proof, one.trust]) }
            print(table.text)
        }
    }
}

/// `gatehouse recordings endpoints add`.
struct EndpointsAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add an endpoint.", discussion: EndpointSettings.discussion)

    @OptionGroup var settings: EndpointSettings
    @OptionGroup var gateway: GatewayOptions

    func run() async throws { try await settings.send(to: gateway, replacing: false) }
}

/// `gatehouse recordings endpoints replace`.
struct EndpointsReplaceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replace",
        abstract: "Replace an endpoint's certificates or keys. Its id stays, and so do the connections that use it.",
        discussion: EndpointSettings.discussion)

    @OptionGroup var settings: EndpointSettings
    @OptionGroup var gateway: GatewayOptions

    func run() async throws { try await settings.send(to: gateway, replacing: true) }
}

/// `gatehouse recordings endpoints delete`.
struct EndpointsDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an endpoint that no connection uses and no footage is waiting for.")

    @Argument(help: "The endpoint's name.")
    var name: String

    @OptionGroup var gateway: GatewayOptions

    func run() async throws {
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            try await connection.delete(endpointsPath(name))
            print("\(name): deleted")
        }
    }
}

/// What an endpoint consists of, on the command line, in files and in the environment.
struct EndpointSettings: ParsableArguments {
    static let discussion = """
        An endpoint is an HTTPS server, with or without a client certificate. With --region and --access-key-id, it \
        is an S3-compatible store.

        The environment may hold what the files of --client-key, --secret-file and --session-token-file contain: \
        GATEHOUSE_UPLOAD_KEY (the key in PEM), GATEHOUSE_UPLOAD_SECRET and GATEHOUSE_UPLOAD_SESSION_TOKEN.
        """

    @Argument(help: "The endpoint's name: letters, digits, '-', '_' and '.'.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The authorities that sign the server's certificate, in PEM; without it, those of the system.",
            valueName: "file"))
    var root: String?

    @Option(help: ArgumentHelp("The gateway's certificate and its chain, in PEM.", valueName: "file"))
    var clientCertificate: String?

    @Option(help: ArgumentHelp("Its key in PEM, not encrypted.", valueName: "file"))
    var clientKey: String?

    @Option(help: ArgumentHelp("The store's region.", valueName: "region"))
    var region: String?

    @Option(help: ArgumentHelp("The public part of the store's keys.", valueName: "id"))
    var accessKeyId: String?

    @Option(help: ArgumentHelp("A file with the secret part, or - for standard input.", valueName: "file"))
    var secretFile: String?

    @Option(help: ArgumentHelp("A file with the token of temporary keys.", valueName: "file"))
    var sessionTokenFile: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        let isStore = region != nil || accessKeyId != nil
        if isStore {
            guard region != nil, accessKeyId != nil else {
                throw ValidationError("a store needs both --region and --access-key-id")
            }
            guard clientCertificate == nil, clientKey == nil else {
                throw ValidationError("--client-certificate and --client-key belong to an HTTPS server, not to a store")
            }
        } else if secretFile != nil || sessionTokenFile != nil {
            throw ValidationError("--secret-file and --session-token-file need --region and --access-key-id")
        }
        let files = [root, clientCertificate, clientKey, secretFile, sessionTokenFile]
        guard files.filter({ $0 == "-" }).count < 2 else {
            throw ValidationError("standard input (-) can be only one of the files")
        }
    }

    /// Provisions the endpoint.
    func send(to gateway: GatewayOptions, replacing: Bool) async throws {
        let body = try JSONEncoder().encode(fields(ProcessInfo.processInfo.environment))
        let connection = try gateway.connect()
        try await reportingHomeErrors {
            let names = try connection.decode(Names.self, try await connection.get(endpointsPath())).endpoints
            let exists = names.contains { $0.name == name }
            guard exists == replacing else {
                throw HomeError.failedPrecondition(
                    exists
                        ? "endpoint \(name) exists already; change it with gatehouse recordings endpoints replace"
                        : "there is no endpoint \(name); gatehouse recordings endpoints list shows all")
            }
            let answer = try await connection.put(endpointsPath(name), body)
            if json { return printJSON(answer) }
            let endpoint = try connection.decode(ListedEndpoint.self, answer)
            print("\(endpoint.name): \(replacing ? "replaced" : "added"), tlsEndpointID \(endpoint.id)")
        }
    }

    private struct Names: Decodable {
        struct Name: Decodable { var name: String }
        var endpoints: [Name]
    }

    /// The body of the request. A file counts before the environment.
    func fields(_ environment: [String: String]) throws -> [String: String] {
        var fields: [String: String] = [:]
        fields["rootCertificates"] = try Self.text(root, nil, "certificate")
        if let region {
            fields["kind"] = "s3"
            fields["region"] = region
            fields["accessKeyId"] = accessKeyId
            let secret = try Self.text(secretFile, environment["GATEHOUSE_UPLOAD_SECRET"], "secret")
            guard let secret else {
                throw ValidationError(
                    "the store's secret is missing: name --secret-file, or set GATEHOUSE_UPLOAD_SECRET")
            }
            fields["secretAccessKey"] = secret.trimmingCharacters(in: .whitespacesAndNewlines)
            fields["sessionToken"] = try Self.text(
                sessionTokenFile, environment["GATEHOUSE_UPLOAD_SESSION_TOKEN"], "token")?
                .trimmingCharacters(in: .whitespacesAndNewlines)
        } else {
            fields["clientCertificate"] = try Self.text(clientCertificate, nil, "certificate")
            // The environment may hold a key for other calls. Without a certificate there is nothing that it belongs to.
            let key = clientCertificate == nil ? nil : environment["GATEHOUSE_UPLOAD_KEY"]
            fields["privateKey"] = try Self.text(clientKey, key, "key")
        }
        return fields
    }

    /// The text of a file, or else of a variable; nil without either.
    private static func text(_ path: String?, _ variable: String?, _ what: String) throws -> String? {
        guard let path else { return variable.flatMap { $0.isEmpty ? nil : $0 } }
        do throws(FileFault) {
            let bytes = try InputFile.read(path, limit: 1 << 20, what: what)
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
                throw FileFault("\(path) is empty, or is not text")
            }
            return text
        } catch {
            printError("gatehouse: \(error.description)")
            throw ExitCode.failure
        }
    }
}
