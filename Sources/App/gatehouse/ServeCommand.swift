import ArgumentParser
import DatagramPort
import Foundation
import Gateway
import HomeHub

/// `gatehouse serve`: runs the gateway until it is asked to stop.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the gateway.",
        discussion: """
            Without --config the gateway serves the built-in doorbell camera only on this machine. \
            docs/configuration.md explains the config file.
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The config file, in YAML.", valueName: "file"))
    var config: String?

    @Flag(help: "Check the config, list its problems, and exit.")
    var check = false

    func run() async throws {
        let gatewayConfiguration = try loadConfiguration(config) ?? .demonstration
        let directory =
            gatewayConfiguration.stateDirectory.map { StateDirectory(path: $0) } ?? StateDirectory.standard()
        if check {
            let cameras = gatewayConfiguration.cameras.count
            print("\(config ?? "the built-in config") is valid: \(cameras) \(cameras == 1 ? "camera" : "cameras")")
            let store = CameraStore(directory: directory)
            if let count = try reportingFailures({ try store.check() }) {
                print("\(store.path) is valid: \(count) \(count == 1 ? "camera" : "cameras") added over the API")
            }
            return
        }
        // Locked before anything in the folder is read or made, and held until the process ends.
        let lock = try reportingFailures { try StateDirectoryLock(directory) }
        defer { withExtendedLifetime(lock) {} }
        let tokens = try reportingFailures { try TokenStore(openingOrCreatingIn: directory) }
        let names = DeviceNames()
        let secrets = SecretList(gatewayConfiguration.secrets(tokens: tokens))
        let logger = GatewayService.makeLogger(
            configuration: gatewayConfiguration, secrets: secrets, names: names)
        let shared = ConnectionGuard(
            connections: ConnectionLedger(limits: ConnectionLedger.Limits(descriptors: DescriptorLimit.raise())))
        let media = try await reportingFailures {
            try await MediaComposition.make(
                configuration: gatewayConfiguration, stateDirectory: directory, tokens: tokens, shared: shared,
                names: names, logger: logger)
        }
        let gateway = try reportingFailures {
            try GatewayService(
                configuration: gatewayConfiguration, signalling: media.signalling, cameras: media.cameras,
                recording: media.recording, outputs: media.outputs, configurationFile: config,
                stateDirectory: directory, tokens: tokens, shared: shared,
                additionalMetrics: media.metrics, permits: media.permits, network: media.network, names: names,
                secrets: secrets, logger: logger,
                onReady: { Self.greet($0) })
        }
        try await reportingFailures { try await gateway.runUntilSignalled(beside: media.services) }
    }

    /// Prints the address of the page. The token is not printed, because standard output often ends in a log.
    private static func greet(_ configuration: GatewayConfiguration) {
        let addresses = configuration.pageAddresses
        print("Gatehouse \(GatewayVersion.current) is ready.")
        for address in addresses { print("  \(address)") }
        print("To sign in, open the address that \"gatehouse token --url\" prints.")
        fflush(nil)
    }
}

/// Reads a config file and reports its problems as the command's own error.
func loadConfiguration(_ path: String?) throws -> GatewayConfiguration? {
    guard let path else { return nil }
    return try reportingFailures { try GatewayConfiguration(contentsOfFile: path) }
}

/// Prints an error of the gateway as a person should read it, and ends with exit code 1.
func reportingFailures<Result>(_ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error where !(error is ExitCode) {
        printError("gatehouse: \(error)")
        throw ExitCode.failure
    }
}

/// Prints an error of the gateway as a person should read it, and ends with exit code 1.
func reportingFailures<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error where !(error is ExitCode) {
        printError("gatehouse: \(error)")
        throw ExitCode.failure
    }
}
