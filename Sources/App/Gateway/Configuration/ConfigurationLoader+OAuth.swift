import Foundation
import HomeTypes
import Yams

/// The section `oauth`.
extension ConfigurationLoader {
    func oauthClients(_ place: YAMLReader.Place) -> [GatewayConfiguration.OAuthClient] {
        let keys = reader.mapping(place, keys: ["clients"])
        var clients: [GatewayConfiguration.OAuthClient] = []
        for entry in reader.sequence(keys["clients"]) {
            guard let client = oauthClient(entry) else { continue }
            guard !clients.contains(where: { $0.id == client.id }) else {
                reader.report("the client \(client.id) occurs twice", at: entry)
                continue
            }
            clients.append(client)
        }
        return clients
    }

    private func oauthClient(_ entry: YAMLReader.Place) -> GatewayConfiguration.OAuthClient? {
        let keys = reader.mapping(entry, keys: ["id", "name", "secret", "redirects"])
        guard let id = reader.string(keys["id"]), !id.isEmpty else {
            reader.report("id is missing; it is the client_id of the client's requests", at: entry)
            return nil
        }
        let name = reader.string(keys["name"]) ?? id
        if let place = keys["name"], let fault = NameRules.fault(in: name) { reader.report(fault, at: place) }
        let redirects = reader.sequence(keys["redirects"]).compactMap { redirect($0) }
        if redirects.isEmpty {
            reader.report("redirects is missing; it lists where the browser is sent back to", at: entry)
        }
        return .init(id: id, name: name, secret: keys["secret"].flatMap(environmentSecret), redirects: redirects)
    }

    /// A secret is never in the file itself: the file is shown to people and kept in repositories.
    func environmentSecret(_ place: YAMLReader.Place) -> String? {
        guard let text = reader.string(place) else { return nil }
        guard text.hasPrefix("${"), text.hasSuffix("}"), text.utf8.count > 3 else {
            reader.report("must name a variable of the environment, for example ${CLIENT_SECRET}", at: place)
            return nil
        }
        do throws(EnvironmentReferences.Failure) {
            let value = try EnvironmentReferences.replaced(in: text, environment: environment)
            if value.utf8.count < 16 { reader.report("the secret must have at least 16 characters", at: place) }
            return value
        } catch {
            reader.report("\(text) is not set in the environment", at: place)
            return nil
        }
    }

    /// HTTPS, or plain HTTP to this machine for programs on it (RFC 8252, section 7.3), or a scheme of an app's own
    /// (section 7.1). A fragment is forbidden (RFC 6749, section 3.1.2).
    private func redirect(_ place: YAMLReader.Place) -> String? {
        guard let text = reader.string(place) else { return nil }
        guard let url = URL(string: text), let scheme = url.scheme, url.fragment == nil, !text.contains("#") else {
            reader.report("must be an absolute address without a fragment", at: place)
            return nil
        }
        let isLocal = ["127.0.0.1", "::1", "localhost"].contains(url.host ?? "")
        let isAppsOwn = scheme.contains(".")
        guard scheme == "https" && url.host != nil || scheme == "http" && isLocal || isAppsOwn else {
            reader.report("must begin with https://, except for addresses of this machine", at: place)
            return nil
        }
        return text
    }
}
