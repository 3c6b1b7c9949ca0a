import ArgumentParser
import Gateway

/// `gatehouse token`: shows the owner's token.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Show the token of the gateway on this machine.",
        discussion: "The token opens everything that the gateway has: treat it like a password.")

    @Option(name: .shortAndLong, help: ArgumentHelp("The gateway's config file.", valueName: "file"))
    var config: String?

    @Flag(help: "Print an address of the web page that signs in by itself.")
    var url = false

    func run() throws {
        let configuration = try loadConfiguration(self.config)
        let (gateway, token) = try reportingFailures { try LocalGateway.find(configuration: configuration) }
        // Browsers keep the part behind # to themselves: it reaches no server and no log.
        print(self.url ? "\(gateway.url)/#token=\(token)" : token)
    }
}
