import Foundation

/// How a command on the same machine finds the gateway that runs there.
///
/// A gateway records its address and its state folder in the file `running.json` in the user's standard state folder
/// (and in its own, if that is another), so that commands find gateways whose config keeps the state elsewhere.
public struct LocalGateway: Sendable, Codable, Equatable {
    static let fileName = "running.json"
    static let ownProcessID = ProcessInfo.processInfo.processIdentifier

    /// The address of plain HTTP, for example `http://127.0.0.1:8080`.
    public var url: String
    /// The port of HTTPS, or nil when it is off.
    public var httpsPort: Int?
    /// Where the gateway keeps its token.
    public var stateDirectory: String
    /// The process.
    public var processID: Int32
    /// Where people open the page.
    public var addresses: PageAddresses?

    /// The address of plain HTTP of a gateway with this config, as reached from the same machine.
    static func url(of configuration: GatewayConfiguration) -> String {
        "http://\(reachableHost(configuration.http.host)):\(configuration.http.port)"
    }

    /// A host to connect to for a host to listen on.
    static func reachableHost(_ host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "[::1]"
        default: host.contains(":") ? "[\(host)]" : host
        }
    }

    /// The addresses of the page with a token that signs the browser in: first the one for this machine, then those for
    /// other devices. Browsers keep the part after # to themselves: it reaches no server and no log.
    public func signingIn(token: String) -> [String] {
        (["\(url)/"] + (addresses?.others ?? [])).map { "\($0)#token=\(token)" }
    }

    /// The address with which another device, such as a phone, signs in; nil where no other device reaches the page.
    public func signingInElsewhere(token: String) -> String? {
        addresses?.others.first.map { "\($0)#token=\(token)" }
    }

    func write(to directories: [StateDirectory]) throws(StateDirectory.Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else { return }
        for directory in directories {
            try directory.writePrivate(Self.fileName, String(decoding: data, as: UTF8.self) + "\n")
        }
    }

    /// Whether another gateway that runs has this file in a folder. Commands without `--config` mean the one that was first.
    func isTaken(in directory: StateDirectory) -> Bool {
        guard let known = try? Self.read(from: directory), known.stateDirectory != stateDirectory else { return false }
        return StateDirectoryLock.isHeld(StateDirectory(path: known.stateDirectory))
    }

    /// Removes the file, unless another gateway has replaced it with its own.
    func remove(from directories: [StateDirectory]) {
        for directory in directories where (try? Self.read(from: directory))?.processID == processID {
            directory.remove(Self.fileName)
        }
    }

    private static func read(from directory: StateDirectory) throws(StateDirectory.Failure) -> LocalGateway? {
        guard let text = try directory.readPrivate(Self.fileName) else { return nil }
        return try? JSONDecoder().decode(LocalGateway.self, from: Data(text.utf8))
    }

    /// The gateway of this user that runs, or has ended without removing its file; nil if there is none.
    public static func noted(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> LocalGateway? {
        // A file that cannot be read is as good as none.
        (try? Self.read(from: .standard(environment: environment))) ?? nil
    }

    /// The state folder of this machine's gateway: that of a config, of a gateway that runs, or the standard one.
    public static func stateDirectory(
        configuration: GatewayConfiguration? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        let standard = StateDirectory.standard(environment: environment)
        if let configuration { return configuration.stateDirectory ?? standard.path }
        // The standard folder is the usual one.
        return noted(environment: environment)?.stateDirectory ?? standard.path
    }

    /// Finds the gateway of this machine and the owner's token.
    /// - Parameters:
    ///   - configuration: the gateway's config, if the user names it; otherwise `running.json` of a running gateway
    /// counts, and without one the defaults.
    ///   - environment: `GATEHOUSE_URL` and `GATEHOUSE_TOKEN` override everything.
    public static func find(
        configuration: GatewayConfiguration? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(StateDirectory.Failure) -> (gateway: LocalGateway, token: String) {
        let standard = StateDirectory.standard(environment: environment)
        let named = configuration.map { configuration in
            LocalGateway(
                url: Self.url(of: configuration), httpsPort: configuration.http.https?.port,
                stateDirectory: configuration.stateDirectory ?? standard.path, processID: 0,
                addresses: PageAddresses(configuration))
        }
        var noted = named
        if noted == nil { noted = try Self.read(from: standard) }
        var gateway =
            noted
            ?? LocalGateway(
                url: Self.url(of: GatewayConfiguration()), httpsPort: GatewayConfiguration.HTTPS().port,
                stateDirectory: standard.path, processID: 0)
        if let url = environment["GATEHOUSE_URL"] { gateway.url = url }
        if let token = environment["GATEHOUSE_TOKEN"] { return (gateway, token) }
        let store = try TokenStore(reading: StateDirectory(path: gateway.stateDirectory))
        guard let store, let token = store.token(of: TokenStore.owner) else {
            throw StateDirectory.Failure(
                path: StateDirectory(path: gateway.stateDirectory).file(TokenStore.fileName),
                reason: "there is no token yet; start the gateway with gatehouse serve, name its config with "
                    + "--config, or set GATEHOUSE_TOKEN")
        }
        return (gateway, token)
    }
}
