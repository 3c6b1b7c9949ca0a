import HTTPMedia
import LocalNetwork
import PortMapping
import Transport

extension FuzzTarget {
    static let portMapping = FuzzTarget(
        "port-mapping", "a router's answers by PCP, NAT-PMP and UPnP, its routes, and other hosts, over time",
        maximumLength: 2048,
        dictionary: [
            "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\n", "00000000", "\t0003\t",
            "HTTP/1.1 200 OK\r\nLocation: http://192.168.1.1:5000/d.xml\r\n", "<URLBase>http://192.168.1.1/</URLBase>",
            "<errorCode>718</errorCode>", "<errorCode>725</errorCode>",
            "HTTP/1.1 200 OK\r\nLocation: http://[2001:db8::1]:5000/d.xml\r\n", "WANIPv6FirewallControl:1",
            "<FirewallEnabled>1</FirewallEnabled>", "<UniqueID>1</UniqueID>", "<errorCode>704</errorCode>",
        ],
        seeds: {
            let outside: [UInt8] = [0x1F, 0xFD] + [UInt8](repeating: 0, count: 10) + [255, 255, 203, 0, 113, 6]
            let pcp: [UInt8] = [0, 0] + [0, 0, 7, 8] + outside
            let natPMP: [UInt8] =
                [1] + [UInt8].piece([128, 0, 0, 0, 0, 0, 77, 203, 0, 113, 6])
                + [1] + [UInt8].piece([129, 0, 0, 0, 0, 0, 77, 0x1F, 0xFD, 0x1F, 0xFD, 0, 0, 7, 8])
            let unknownVersion: [UInt8] = [1] + [UInt8].piece([129, 0, 1, 0, 0, 0, 77])
            let routes = "Iface\tDestination\nenp3s0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
            let search =
                [8] + [UInt8].piece([UInt8](text: "HTTP/1.1 200 OK\r\nLocation: http://192.168.1.1:5000/d.xml\r\n\r\n"))
            func answer(_ body: String) -> [UInt8] { [9, 1] + [UInt8].piece([UInt8](text: body)) }
            let service =
                "<serviceType>urn:schemas-upnp-org:service:WANIPConnection:1</serviceType><controlURL>/c</controlURL>"
            let description = answer("<r><device><serviceList><service>\(service)</service></serviceList></device></r>")
            let address = answer("<E><Body><NewExternalIPAddress>203.0.113.6</NewExternalIPAddress></Body></E>")
            let done = answer("<E><Body/></E>")
            let found = [UInt8](text: "HTTP/1.1 200 OK\r\nLocation: http://[2001:db8::1]:5000/d.xml\r\n\r\n")
            let firewall = [8] + [UInt8].piece(found)
            let firewallDescription = answer(
                "<r><device><serviceList><service>"
                    + "<serviceType>urn:schemas-upnp-org:service:WANIPv6FirewallControl:1</serviceType>"
                    + "<controlURL>/c</controlURL></service></serviceList></device></r>")
            let flags = "<FirewallEnabled>1</FirewallEnabled><InboundPinholeAllowed>1</InboundPinholeAllowed>"
            let status = answer("<E><Body>\(flags)</Body></E>")
            let pinhole = answer("<E><Body><UniqueID>1</UniqueID></Body></E>")
            let noSuchEntry = [UInt8](text: "<E><Body><Fault><errorCode>704</errorCode></Fault></Body></E>")
            let opening: [UInt8] = [10, 4, 2, 4, 4] + firewall + firewallDescription + status + pinhole
            let renewal: [UInt8] = [4, 255, 4, 255] + status + [9, 2] + [UInt8].piece(noSuchEntry) + pinhole + [7]
            return [
                [4, 4, 4, 255, 4, 255, 4, 2] + search + description + address + done + [4, 255, 4, 255, 4, 255]
                    + address
                    + [9, 2]
                    + [UInt8].piece([UInt8](text: "<E><Body><Fault><errorCode>718</errorCode></Fault></Body></E>"))
                    + done + [7],
                pcp + [4, 255, 4, 255, 4, 255, 4, 255] + pcp + [7],
                unknownVersion + natPMP + [4, 255, 4, 255, 4, 255, 4, 255] + natPMP + [7],
                [0, 8, 0, 0, 0, 30] + outside + [4, 200] + pcp + [0, 4, 255, 255, 255, 255] + outside,
                [2] + [UInt8].piece([2, 0x81, 0, 3, 0, 0, 0, 30] + [UInt8](repeating: 0, count: 16)) + [4, 100],
                [3] + [UInt8].piece([0, 129, 0, 1, 0, 0, 0, 77]) + [5, 1] + pcp + [5, 0, 4, 9, 5, 2],
                [6] + [UInt8].piece([UInt8](text: routes)) + pcp,
                opening + renewal,
            ]
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        var now = Instant(nanoseconds: 1_000_000_000)
        let port: UInt16 = 8189
        let client = TransportAddress(ipv4: 0xC0A8_010A, port: 0)
        // Not a router's port, so no route leads there.
        let elsewhere = TransportAddress(ipv4: 0xC0A8_0163, port: PortMappingWire.port - 1)
        let ipv6Router = TransportAddress(ipv6High: 0xFE80 << 48, low: 1, port: 0, scope: 2)
        let ipv6Client = TransportAddress(ipv6High: 0x2001_0DB8_0001_0002, low: 0x10, port: 0)
        var mapper = PortMapper(internalPort: port, random: .seeded(1))
        mapper.setRouter(TransportAddress(ipv4: 0xC0A8_0101, port: 0), client: client, at: now)
        var request: [UInt8] = []

        /// Takes what there is to send; how much it was. A search by UPnP goes to two destinations.
        func transmit() throws(FuzzFailure) -> Int {
            var count = 0
            while let message = mapper.pollTransmit() {
                if message.destination.port == 1900 { continue }
                count += 1
                try require(count <= 2, "messages without end")
                try require(message.destination == mapper.mapping.router, "a request to another host")
                try require(
                    [2, 12, 60].contains(message.bytes.count), "\(message.bytes.count) bytes are none of the requests")
                request = message.bytes
            }
            while let message = mapper.pollRequest() {
                count += 1
                try require(count <= 2, "messages without end")
                let router = mapper.mapping.router
                try require(
                    message.destination.withPort(PortMappingWire.port) == router, "an HTTP request to another host")
                try require(message.destination.port != 0, "an HTTP request to no port")
                if message.destination.family == .ipv6 {
                    try require(message.source == ipv6Client, "an HTTP request from another address")
                }
            }
            return count
        }
        func deliver(_ answer: [UInt8]) {
            let router = mapper.mapping.router ?? elsewhere
            answer.withUnsafeBytes { mapper.handle($0, from: router, at: now) }
        }
        func check() throws(FuzzFailure) {
            if let due = mapper.nextDeadline { try require(due > now, "a deadline that stays due") }
            guard let external = mapper.mapping.external else { return }
            try require(external.isUsableDestination && !external.isLoopback, "nobody can be reached at \(external)")
            try require(mapper.nextDeadline != nil, "a mapping without end")
            try require((1...86_400).contains(mapper.mapping.lifetime), "\(mapper.mapping.lifetime) seconds")
        }

        _ = try transmit()
        while !input.isEmpty {
            switch input.byte() % 11 {
            case 0:
                // The nonce, the protocol and the port are those of the request; the rest is the router's.
                guard request.count == 60 else { break }
                var answer: [UInt8] = [2, 0x81, 0, input.byte()]
                answer += input.bytes(4)
                answer += [UInt8](repeating: 0, count: 16)
                answer += request[24..<42]
                answer += input.bytes(18)
                deliver(answer)
                try require(try transmit() <= 1, "one answer leads to several requests")
            case 1:
                deliver([0] + input.piece())
                try require(try transmit() <= 1, "one answer leads to several requests")
            case 2:
                deliver(Array(input.piece()))
                try require(try transmit() <= 1, "one answer leads to several requests")
            case 3:
                let before = (mapper.mapping, mapper.nextDeadline)
                mapper.handle(input.piece(), from: elsewhere, at: now)
                try require(before == (mapper.mapping, mapper.nextDeadline), "another host is believed")
                try require(try transmit() == 0, "another host is answered")
            case 4: now += .seconds(Int(input.byte()) * 2)
            case 5:
                let number = input.byte()
                let router = number == 0 ? nil : TransportAddress(ipv4: 0xC0A8_0100 | UInt32(number), port: 0)
                mapper.setRouter(router, client: client, at: now)
            case 6:
                guard let found = DefaultRouter(routes: String(fuzzed: input.piece())) else { break }
                try require(!found.address.isUnspecified, "a router without an address")
                mapper.setRouter(found.address, client: client, at: now)
            case 10: mapper.setRouter(ipv6Router, client: ipv6Client, at: now)
            case 8:
                let router = (mapper.mapping.router ?? elsewhere).withPort(1900)
                mapper.handle(input.piece(), from: router, at: now)
                try require(try transmit() <= 1, "one answer leads to several requests")
            case 9:
                let status = [0, 200, 500, 404][Int(input.byte() % 4)]
                let response = status == 0 ? nil : HTTPResponse(status: status, body: Array(input.piece()))
                mapper.handle(response: response, at: now)
                try require(try transmit() <= 1, "one answer leads to several requests")
            default:
                mapper.release()
                try require(mapper.mapping.external == nil && mapper.nextDeadline == nil, "a mapping after its end")
            }
            _ = try transmit()
            var turns = 0
            while let due = mapper.nextDeadline, due <= now, turns < 1000 {
                turns += 1
                mapper.handleDeadline(at: now)
                try require(try transmit() <= 1, "a deadline leads to several requests")
            }
            try check()
        }
    }
}
