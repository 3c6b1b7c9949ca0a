import ArgumentParser
import Foundation
import Gateway

/// `gatehouse token`: shows the owner's token, and makes, lists, changes and revokes others.
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Show the owner's token, and manage the tokens of others.",
        subcommands: [
            TokenShowCommand.self, TokenListCommand.self, TokenCreateCommand.self, TokenGrantCommand.self,
            TokenRevokeCommand.self,
        ], defaultSubcommand: TokenShowCommand.self)
}

/// `gatehouse token show`: shows the owner's token.
struct TokenShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the token of the gateway on this machine.",
        discussion: "The token gives access to everything that the gateway has: treat it like a password.")

    @Option(name: .shortAndLong, help: ArgumentHelp("The gateway's config file.", valueName: "file"))
    var config: String?

    @Flag(help: "Print addresses instead: those of the web page, which contain the token, or that of the webhook.")
    var url = false

    @Flag(help: "With --url on a terminal: draw the QR code for a light background.")
    var light = false

    @Option(
        help: ArgumentHelp(
            "Print the token that this device reports its own events with. With --config, the device may be a name.",
            valueName: "device"))
    var webhook: String?

    func run() throws {
        let configuration = try configurationOfGateway(config)
        if let webhook { return try printWebhook(of: webhook, configuration) }
        let (gateway, token) = try reportingFailures { try LocalGateway.find(configuration: configuration) }
        guard url else { return print(token) }
        for address in gateway.signingIn(token: token) { print(address) }
        if let address = gateway.signingInElsewhere(token: token) {
            SignInCode.show(address, words: "A phone signs in with this code:", isLight: light)
        }
    }

    private func printWebhook(of text: String, _ configuration: GatewayConfiguration?) throws {
        let device = try Self.key(of: text, in: configuration?.cameras ?? [])
        let (gateway, _) = try reportingFailures { try LocalGateway.find(configuration: configuration) }
        let directory = StateDirectory(path: gateway.stateDirectory)
        guard let token = try reportingFailures({ try WebhookTokens.token(of: device, in: directory) }) else {
            printError(
                "gatehouse: device \(device) has no webhook token; set webhook: true for it in the config and start "
                    + "the gateway")
            throw ExitCode.failure
        }
        print(url ? "\(gateway.url)/v1/webhooks/\(device)/\(token)/doorbellPressed" : token)
    }
    /// The key of a camera that people name by its key or its name.
    private static func key(of text: String, in cameras: [GatewayConfiguration.Camera]) throws -> String {
        if cameras.contains(where: { $0.id == text }) { return text }
        let named = cameras.filter { $0.name.caseInsensitiveCompare(text) == .orderedSame }
        guard named.count < 2 else {
            printError(
                "gatehouse: \(named.count) cameras are called \(text); use one of these keys: "
                    + named.map(\.id).joined(separator: ", "))
            throw ExitCode.failure
        }
        return named.first?.id ?? text
    }
}
