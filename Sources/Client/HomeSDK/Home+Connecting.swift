import Foundation
import GatewayClient
import HomeTypes

extension Home {
    /// The home that the configuration, the environment or the files on this machine name.
    convenience init(
        _ configuration: HomeClientConfiguration,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(HomeError) {
        // The files count only if nothing else names a gateway.
        let local = LocalGatewayFiles(environment: environment)
        guard let address = configuration.address ?? environment["GATEHOUSE_URL"] ?? local?.address else {
            throw .unavailable(
                "no gateway runs on this machine, and none is named; set the address in Home.configure, or GATEHOUSE_URL"
            )
        }
        let found = local?.address == address ? local?.token : nil
        guard let token = configuration.token ?? environment["GATEHOUSE_TOKEN"] ?? found else {
            throw .unauthenticated("the token for \(address) is missing; set it in Home.configure, or GATEHOUSE_TOKEN")
        }
        guard let certificate = configuration.certificate else {
            self.init(GatewayConnection(url: address, token: token), configuration)
            return
        }
        self.init(
            try GatewayConnection(url: address, token: token, certificate: certificate), configuration)
    }
}
