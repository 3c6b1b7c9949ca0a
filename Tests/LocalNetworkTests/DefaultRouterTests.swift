import LocalNetwork
import Testing
import Transport

@Suite struct DefaultRouterTests {
    private static let header =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

    @Test func theDefaultRouteWithTheLowestMetricLeadsToTheRouter() {
        let routes =
            Self.header + "wlan0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n"
            + "eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
            + "eth0\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
        #expect(DefaultRouter(routes: routes)?.address == TransportAddress(ipv4: 0x0A00_0001, port: 0))
    }

    @Test(arguments: [
        "", "eth0\t00000000\t0100000A\t0001\t0\t0\t100\t00000000\t0\t0\t0\n",
        "tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n",
        "eth0\t0000000A\t0100000A\t0003\t0\t0\t100\t00FFFFFF\t0\t0\t0\n",
        "tun0\t00000000\t0100000A\t0003\t0\t0\t0\t00000080\t0\t0\t0\n", "eth0\tx\ty\n", "\n\n",
    ])
    func otherRoutesDoNot(routes: String) {
        #expect(DefaultRouter(routes: Self.header + routes) == nil)
        #expect(DefaultRouter(routes: routes) == nil)
    }
}
