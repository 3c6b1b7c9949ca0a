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
            Without --config the gateway reads the config that gatehouse setup writes. If there is none, it serves the \
            built-in doorbell camera, and only this machine can open the page. \
            The document configuration.md explains the config file.
            """)

    @Option(name: .shortAndLong, help: ArgumentHelp("The config file, in YAML.", valueName: "file"))
    var config: String?

    @Flag(help: "Check the config, list its problems, and exit.")
    var check = false

    func run() async throws {
        let file = config ?? StandardConfigurationFile.existing()
        if check { return try Self.checkFiles(file) }
        let gatewayConfiguration = try loadConfiguration(file) ?? .demonstration
        let directory =
            gatewayConfiguration.stateDirectory.map { StateDirectory(path: $0) } ?? StateDirectory.standard()
        // Locked before anything in the folder is read or made, and held until the process ends.
        let lock = try reportingFailures { try StateDirectoryLock(directory) }
        defer { withExtendedLifetime(lock) {} }
        let tokens = try reportingFailures { try TokenStore(openingOrCreatingIn: directory) }
        let (names, identity) = (DeviceNames(), GatewayIdentity())
        let secrets = SecretList(gatewayConfiguration.secrets(tokens: tokens))
        let logger = GatewayService.makeLogger(
            configuration: gatewayConfiguration, secrets: secrets, names: names, identity: identity)
        let shared = ConnectionGuard(
            connections: ConnectionLedger(limits: ConnectionLedger.Limits(descriptors: DescriptorLimit.raise())))
        let media = try await reportingFailures {
            try await MediaComposition.make(
                configuration: gatewayConfiguration, stateDirectory: directory, tokens: tokens, shared: shared,
                names: names, identity: identity, logger: logger)
        }
        let gateway = try reportingFailures {
            try GatewayService(
                configuration: gatewayConfiguration, signalling: media.signalling, cameras: media.cameras,
                recording: media.recording, outputs: media.outputs, configurationFile: file,
                stateDirectory: directory, tokens: tokens, shared: shared,
                additionalMetrics: media.metrics, live: media.live, permits: media.permits, network: media.network,
                names: names,
                secrets: secrets, identity: identity, logger: logger,
                onReady: { listening in
                    Greeting(listening, configurationFile: file).lines.forEach { print($0) }
                    fflush(nil)
                })
        }
        try await reportingFailures { try await gateway.runUntilSignalled(beside: media.services) }
    }

    /// Prints what there is to say about the files of the config.
    private static func checkFiles(_ file: String?) throws {
        let found = ConfigurationCheck(file: file)
        for remark in found.remarks { print(remark) }
        for problem in found.problems { printError("gatehouse: \(problem)") }
        if !found.problems.isEmpty { throw ExitCode.failure }
    }
}

/// Reads a config file and reports its problems as the command's own error.
func loadConfiguration(_ path: String?) throws -> GatewayConfiguration? {
    guard let path else { return nil }
    return try reportingFailures { try GatewayConfiguration(contentsOfFile: path) }
}

/// The config that a command names, or else the one that a gateway without `--config` uses; nil where there is none, and where
/// a gateway runs that uses another one.
func namedOrUsualConfiguration(_ path: String?) throws -> GatewayConfiguration? {
    if let path { return try loadConfiguration(path) }
    guard let usual = try loadConfiguration(StandardConfigurationFile.existing()) else { return nil }
    if let running = LocalGateway.noted(),
        running.stateDirectory != LocalGateway.stateDirectory(configuration: usual)
    {
        return nil
    }
    return usual
}

/// The config by which a command finds the gateway. A running gateway has recorded its real ports, so without
/// `--config` none is needed for it.
func configurationOfGateway(_ path: String?) throws -> GatewayConfiguration? {
    if path == nil, LocalGateway.noted() != nil { return nil }
    return try namedOrUsualConfiguration(path)
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
