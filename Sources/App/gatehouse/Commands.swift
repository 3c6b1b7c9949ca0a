import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes

/// How a command finds the gateway.
struct GatewayOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The gateway's config file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("The gateway's address, if it is not the one on this machine.", valueName: "url"))
    var gateway: String?

    @Option(help: ArgumentHelp("The token. Prefer GATEHOUSE_TOKEN in the environment.", valueName: "token"))
    var token: String?

    @Option(
        help: ArgumentHelp(
            "For https://, the gateway's self-signed certificate in PEM: https-certificate.pem from its state "
                + "folder.", valueName: "file"))
    var certificate: String?

    /// The gateway on this machine, or the one that was named.
    func connect() throws -> GatewayConnection {
        if let gateway {
            guard let token = token ?? ProcessInfo.processInfo.environment["GATEHOUSE_TOKEN"] else {
                throw ValidationError("--gateway also needs --token, or GATEHOUSE_TOKEN in the environment")
            }
            guard let certificate else { return GatewayConnection(url: gateway, token: token) }
            return try reportingFailures {
                do {
                    return try GatewayConnection(url: gateway, token: token, certificate: certificate)
                } catch let error as HomeError {
                    throw CommandFailure(description: error.message)
                }
            }
        }
        let configuration = try configurationOfGateway(config)
        let (found, foundToken) = try reportingFailures { try LocalGateway.find(configuration: configuration) }
        return GatewayConnection(url: found.url, token: token ?? foundToken)
    }
}

/// Runs `body`; an error of the gateway is printed as its message, and ends the command with exit code 1.
func reportingHomeErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as HomeError {
        printError("gatehouse: \(error.commandMessage)")
        throw ExitCode.failure
    }
}

/// Why a command failed, in words.
struct CommandFailure: Error, CustomStringConvertible {
    var description: String
}
