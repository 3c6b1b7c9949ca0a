import Foundation
import Yams

/// The section `cloudToCloud`.
extension ConfigurationLoader {
    /// - Parameter clients: those of the section `oauth`.
    func reportState(
        _ place: YAMLReader.Place, clients: [GatewayConfiguration.OAuthClient]
    ) -> GatewayConfiguration.ReportState? {
        let keys = reader.mapping(place, keys: ["reportState"])
        guard let place = keys["reportState"], !place.isNull else { return nil }
        return service(place, clients: clients)
    }

    private func service(
        _ place: YAMLReader.Place, clients: [GatewayConfiguration.OAuthClient]
    ) -> GatewayConfiguration.ReportState? {
        let keys = reader.mapping(place, keys: ["client", "url", "credentials", "ca"])
        guard place.node.mapping != nil else { return nil }
        guard let client = reader.string(keys["client"]), clients.contains(where: { $0.id == client }) else {
            reader.report(
                "client is missing, or not one of oauth.clients; only accounts that are linked with it are reported",
                at: keys["client"] ?? place)
            return nil
        }
        guard let secret = keys["credentials"], let credentials = environmentSecret(secret) else {
            if keys["credentials"] == nil { reader.report("credentials is missing", at: place) }
            return nil
        }
        var result = GatewayConfiguration.ReportState(client: client, credentials: credentials)
        if let place = keys["url"], let text = reader.string(place) {
            guard let url = URL(string: text), url.scheme == "https", url.host?.isEmpty == false, url.query == nil,
                url.fragment == nil, url.user == nil
            else {
                reader.report("expected an address that begins with https://, without a query", at: place)
                return nil
            }
            result.url = text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        result.authorities = reader.string(keys["ca"]).map(path)
        return result
    }
}
