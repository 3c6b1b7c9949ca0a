import Foundation
import Testing
import Transport

@testable import Gateway

/// What somebody reads who starts the gateway for the first time.
@Suite struct FirstStartTests {
    private static let home = TransportAddress(ipv4: 0xC0A8_010A, port: 0)

    private static func greeting(
        _ configure: (inout GatewayConfiguration) -> Void = { _ in }, file: String? = nil,
        hosts: [TransportAddress] = [home], firewall: HostFirewall? = nil
    ) -> String {
        var configuration = GatewayConfiguration.demonstration
        configure(&configuration)
        var greeting = Greeting(configuration, configurationFile: file)
        greeting.hosts = hosts
        greeting.firewall = firewall
        return greeting.lines.joined(separator: "\n")
    }

    @Test func aClosedGatewaySaysHowToOpenIt() {
        let words = Self.greeting()
        #expect(words.hasPrefix("Gatehouse \(GatewayVersion.current) is ready.\n"))
        #expect(words.contains("  http://127.0.0.1:8080/\n"))
        #expect(words.contains("Other devices cannot open the page. To let them in, run \"gatehouse setup\""))
        #expect(words.contains("They will then find it at https://192.168.1.10:8443/"))
        let withFile = Self.greeting(file: "/etc/gatehouse/gatehouse.yaml")
        #expect(withFile.contains("set http.https.host to 0.0.0.0 in /etc/gatehouse/gatehouse.yaml"))
        let withoutHTTPS = Self.greeting({ $0.http.https = nil }, file: "g.yaml")
        #expect(withoutHTTPS.contains("remove https: false and set http.https.host"))
    }

    @Test func anOpenGatewayNamesItsAddressesAndPorts() {
        let words = Self.greeting { $0.http.https?.host = "0.0.0.0" }
        #expect(words.contains("Open the page on other devices:\n  https://192.168.1.10:8443/\n"))
        #expect(!words.contains("http://192.168.1.10"))
        #expect(words.contains("Browsers warn once"))
        #expect(words.contains("open TCP port 8443, TCP port 8189 and UDP port 8189"))
        #expect(!words.contains("cannot open"))
    }

    @Test func aGatewayWithoutANetworkSaysSo() {
        let words = Self.greeting({ $0.http.https?.host = "0.0.0.0" }, hosts: [])
        #expect(words.contains("this machine is not on a network"))
        #expect(!Self.greeting(hosts: []).contains("They will then find it"))
    }

    @Test func aFirewallIsNamedWithTheCommandThatOpensIt() {
        let ufw = Self.greeting({ $0.http.https?.host = "0.0.0.0" }, firewall: .ufw)
        #expect(ufw.contains("The firewall ufw is on."))
        #expect(ufw.contains("sudo ufw allow 8443/tcp && sudo ufw allow 8189/tcp && sudo ufw allow 8189/udp"))
        let command = HostFirewall.firewalld.opening(tcp: [8443], udp: 8189)
        #expect(command.contains("--add-port=8443/tcp --add-port=8189/udp && sudo firewall-cmd --reload"))
    }

    @Test func `the firewall is opened for media over TCP where the config has that`() {
        func ports(_ tcp: GatewayConfiguration.Network.TCP) -> String {
            Self.greeting(
                {
                    $0.http.https?.host = "0.0.0.0"
                    $0.network.tcp = tcp
                }, firewall: .firewalld)
        }
        #expect(ports(.off).contains("--permanent --add-port=8443/tcp --add-port=8189/udp "))
        #expect(ports(.mediaPort).contains("--add-port=8443/tcp --add-port=8189/tcp --add-port=8189/udp "))
        #expect(ports(.port(443)).contains("--add-port=8443/tcp --add-port=443/tcp --add-port=8189/udp "))
        #expect(ports(.port(8443)).contains("--permanent --add-port=8443/tcp --add-port=8189/udp "))
    }

    @Test func aFirewallIsFoundByItsFiles() throws {
        let folder = try TemporaryFolder()
        let root = folder.directory.path
        #expect(HostFirewall.active(root: root) == nil)
        try FileManager.default.createDirectory(atPath: root + "/etc/ufw", withIntermediateDirectories: true)
        try "# ufw\nENABLED=no\n".write(toFile: root + "/etc/ufw/ufw.conf", atomically: true, encoding: .utf8)
        #expect(HostFirewall.active(root: root) == nil)
        let wanted = root + "/etc/systemd/system/multi-user.target.wants"
        try FileManager.default.createDirectory(atPath: wanted, withIntermediateDirectories: true)
        try "".write(toFile: wanted + "/firewalld.service", atomically: true, encoding: .utf8)
        #expect(HostFirewall.active(root: root) == .firewalld)
        try "ENABLED=yes\n".write(toFile: root + "/etc/ufw/ufw.conf", atomically: true, encoding: .utf8)
        #expect(HostFirewall.active(root: root) == .ufw)
    }

    @Test func eachListenerHasTheAddressesOfItsHost() throws {
        let own = try #require(TransportAddress("fd00::10", port: 0))
        func others(_ configure: (inout GatewayConfiguration) -> Void) -> [String] {
            var configuration = GatewayConfiguration()
            configure(&configuration)
            return PageAddresses(configuration, hosts: [Self.home, own]).others
        }
        #expect(others { _ in } == [])
        #expect(others { $0.http.host = "localhost" } == [])
        #expect(others { $0.http.host = "0.0.0.0" } == ["https://192.168.1.10:8443/", "http://192.168.1.10:8080/"])
        #expect(
            others { $0.http.https?.host = "::" } == ["https://192.168.1.10:8443/", "https://[fd00::10]:8443/"])
        #expect(others { $0.http.https?.host = "gate.lan" } == ["https://gate.lan:8443/"])
        #expect(
            others {
                $0.http.host = "192.168.1.10"
                $0.http.https = nil
            } == ["http://192.168.1.10:8080/"])
    }

    @Test func signingInWorksOnThisMachineFirst() {
        var gateway = LocalGateway(url: "http://127.0.0.1:8080", stateDirectory: "/s", processID: 1)
        #expect(gateway.signingIn(token: "t") == ["http://127.0.0.1:8080/#token=t"])
        // A phone cannot open this machine's own address.
        #expect(gateway.signingInElsewhere(token: "t") == nil)
        var configuration = GatewayConfiguration()
        configuration.http.https?.host = "0.0.0.0"
        gateway.addresses = PageAddresses(configuration, hosts: [Self.home])
        #expect(
            gateway.signingIn(token: "t") == [
                "http://127.0.0.1:8080/#token=t", "https://192.168.1.10:8443/#token=t",
            ])
        #expect(gateway.signingInElsewhere(token: "t") == "https://192.168.1.10:8443/#token=t")
    }

    @Test func theStandardConfigIsWhereTheUserKeepsConfigs() throws {
        func path(_ environment: [String: String]) -> String {
            StandardConfigurationFile.path(environment: environment)
        }
        #expect(path(["CONFIGURATION_DIRECTORY": "/etc/a:/etc/b", "XDG_CONFIG_HOME": "/x"]) == "/etc/a/gatehouse.yaml")
        #expect(path(["XDG_CONFIG_HOME": "/x", "HOME": "/h"]) == "/x/gatehouse/gatehouse.yaml")
        // A relative folder is not valid there.
        #expect(!path(["XDG_CONFIG_HOME": "x", "HOME": "/h"]).contains("x/gatehouse"))
        let folder = try TemporaryFolder()
        let environment = ["CONFIGURATION_DIRECTORY": folder.directory.path]
        #expect(StandardConfigurationFile.existing(environment: environment) == nil)
        try folder.directory.create()
        try "".write(toFile: path(environment), atomically: true, encoding: .utf8)
        #expect(StandardConfigurationFile.existing(environment: environment) == path(environment))
    }
}
