import Testing

@testable import Gateway

/// TCP ports that two parts of the config claim.
@Suite struct ConfigurationPortTests {
    private func problems(_ yaml: String) -> [String] {
        do {
            _ = try GatewayConfiguration(yaml: yaml, environment: [:])
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    static let claims = [
        ("http: {port: 8443}", "line 1: http: http.port and http.https.port are both 8443"),
        ("rtsp: {port: 8080}", "line 1: rtsp: rtsp.port and http.port are both 8080"),
        ("rtsp: {port: 8189}", "line 1: rtsp: media.port and rtsp.port are both 8189"),
        ("media: {port: 8080}", "line 1: media: media.port and http.port are both 8080"),
        ("network: {tcp: 8443}", "line 1: network: network.tcp and http.https.port are both 8443"),
        ("rtsp: {port: 1935}\nrtmp: {host: 0.0.0.0}", "line 2: rtmp: rtsp.port and rtmp.port are both 1935"),
        ("rtsp: {host: '::', port: 1935}\nrtmp:", "line 2: rtmp: rtsp.port and rtmp.port are both 1935"),
        ("rtsp: {host: localhost, port: 1935}\nrtmp:", "line 2: rtmp: rtsp.port and rtmp.port are both 1935"),
        ("rtsp: {host: '2001:db8::1', port: 8189}", "line 1: rtsp: media.port and rtsp.port are both 8189"),
    ]

    @Test(arguments: ConfigurationPortTests.claims)
    func `a port that is claimed twice is a problem of the config`(yaml: String, problem: String) {
        #expect(problems(yaml) == [problem])
    }

    @Test(arguments: [
        "rtsp: {host: 192.0.2.1, port: 1935}\nrtmp: {host: 127.0.0.1}", "media: {port: 8080}\nnetwork: {tcp: false}",
        "http: {port: 8443, https: false}", "http: {port: 8443, https: {host: 192.0.2.1}}", "rtsp:\nrtmp:",
        "rtsp: {host: 0.0.0.0, port: 1935}\nrtmp: {host: '::1'}",
    ])
    func `the same number at other addresses, and without TCP, is not a second claim`(yaml: String) {
        #expect(problems(yaml).isEmpty)
    }
}
