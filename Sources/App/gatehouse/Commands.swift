import ArgumentParser
import Foundation
import Gateway
import GatewayClient
import HomeTypes
import Transport

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
        let configuration = try loadConfiguration(config)
        let (found, foundToken) = try reportingFailures { try LocalGateway.find(configuration: configuration) }
        return GatewayConnection(url: found.url, token: token ?? foundToken)
    }
}

/// Writes text to standard output. It shadows Swift's own `print`, so text from a camera or a peer never reaches the
/// terminal unchanged.
func print(_ text: String, terminator: String = "\n") {
    FileHandle.standardOutput.write(Data((text.forTerminal + terminator).utf8))
}

/// Writes text to standard error.
func printError(_ text: String) {
    FileHandle.standardError.write(Data((text.forTerminal + "\n").utf8))
}

/// Writes JSON and a line break to standard output. JSON leaves some characters unescaped that a terminal obeys. They
/// occur only in strings, where they may be escaped.
func printJSON(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self).forTerminal
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
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
