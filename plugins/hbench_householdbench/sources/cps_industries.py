"""Industries of the 1990 Census classification (IND1990), as IPUMS labels them."""

from __future__ import annotations

INDUSTRIES = {
    int(code): label
    for code, label in (
        line.split(maxsplit=1)
        for line in """
        10 Agricultural production, crops
        11 Agricultural production, livestock
        12 Veterinary services
        20 Landscape and horticultural services
        30 Agricultural services, n.e.c.
        31 Forestry
        32 Fishing, hunting, and trapping
        40 Metal mining
        41 Coal mining
        42 Oil and gas extraction
        50 Nonmetallic mining and quarrying, except fuels
        60 All construction
        100 Meat products
        101 Dairy products
        102 Canned, frozen, and preserved fruits and vegetables
        110 Grain mill products
        111 Bakery products
        112 Sugar and confectionery products
        120 Beverage industries
        121 Misc. food preparations and kindred products
        122 Food industries, n.s.
        130 Tobacco manufactures
        132 Knitting mills
        140 Dyeing and finishing textiles, except wool and knit goods
        141 Carpets and rugs
        142 Yarn, thread, and fabric mills
        150 Miscellaneous textile mill products
        151 Apparel and accessories, except knit
        152 Miscellaneous fabricated textile products
        160 Pulp, paper, and paperboard mills
        161 Miscellaneous paper and pulp products
        162 Paperboard containers and boxes
        171 Newspaper publishing and printing
        172 Printing, publishing, and allied industries, except newspapers
        180 Plastics, synthetics, and resins
        181 Drugs
        182 Soaps and cosmetics
        190 Paints, varnishes, and related products
        191 Agricultural chemicals
        192 Industrial and miscellaneous chemicals
        200 Petroleum refining
        201 Miscellaneous petroleum and coal products
        210 Tires and inner tubes
        211 Other rubber products, and plastics footwear and belting
        212 Miscellaneous plastics products
        220 Leather tanning and finishing
        221 Footwear, except rubber and plastic
        222 Leather products, except footwear
        229 Manufacturing, non-durable - allocated
        230 Logging
        231 Sawmills, planing mills, and millwork
        232 Wood buildings and mobile homes
        241 Miscellaneous wood products
        242 Furniture and fixtures
        250 Glass and glass products
        251 Cement, concrete, gypsum, and plaster products
        252 Structural clay products
        261 Pottery and related products
        262 Misc. nonmetallic mineral and stone products
        270 Blast furnaces, steelworks, rolling and finishing mills
        271 Iron and steel foundries
        272 Primary aluminum industries
        280 Other primary metal industries
        281 Cutlery, handtools, and general hardware
        282 Fabricated structural metal products
        290 Screw machine products
        291 Metal forgings and stampings
        292 Ordnance
        300 Miscellaneous fabricated metal products
        301 Metal industries, n.s.
        310 Engines and turbines
        311 Farm machinery and equipment
        312 Construction and material handling machines
        320 Metalworking machinery
        321 Office and accounting machines
        322 Computers and related equipment
        331 Machinery, except electrical, n.e.c.
        332 Machinery, n.s.
        340 Household appliances
        341 Radio, TV, and communication equipment
        342 Electrical machinery, equipment, and supplies, n.e.c.
        350 Electrical machinery, equipment, and supplies, n.s.
        351 Motor vehicles and motor vehicle equipment
        352 Aircraft and parts
        360 Ship and boat building and repairing
        361 Railroad locomotives and equipment
        362 Guided missiles, space vehicles, and parts
        370 Cycles and miscellaneous transportation equipment
        371 Scientific and controlling instruments
        372 Medical, dental, and optical instruments and supplies
        380 Photographic equipment and supplies
        381 Watches, clocks, and clockwork operated devices
        390 Toys, amusement, and sporting goods
        391 Miscellaneous manufacturing industries
        392 Manufacturing industries, n.s.
        400 Railroads
        401 Bus service and urban transit
        402 Taxicab service
        410 Trucking service
        411 Warehousing and storage
        412 U.S. Postal Service
        420 Water transportation
        421 Air transportation
        422 Pipe lines, except natural gas
        432 Services incidental to transportation
        440 Radio and television broadcasting and cable
        441 Wired communications
        442 Telegraph and miscellaneous communications services
        450 Electric light and power
        451 Gas and steam supply systems
        452 Electric and gas, and other combinations
        470 Water supply and irrigation
        471 Sanitary services
        472 Utilities, n.s.
        500 Motor vehicles and equipment
        501 Furniture and home furnishings
        502 Lumber and construction materials
        510 Professional and commercial equipment and supplies
        511 Metals and minerals, except petroleum
        512 Electrical goods
        521 Hardware, plumbing and heating supplies
        530 Machinery, equipment, and supplies
        531 Scrap and waste materials
        532 Miscellaneous wholesale, durable goods
        540 Paper and paper products
        541 Drugs, chemicals, and allied products
        542 Apparel, fabrics, and notions
        550 Groceries and related products
        551 Farm-product raw materials
        552 Petroleum products
        560 Alcoholic beverages
        561 Farm supplies
        562 Miscellaneous wholesale, nondurable goods
        571 Wholesale trade, n.s.
        580 Lumber and building material retailing
        581 Hardware stores
        582 Retail nurseries and garden stores
        590 Mobile home dealers
        591 Department stores
        592 Variety stores
        600 Miscellaneous general merchandise stores
        601 Grocery stores
        602 Dairy products stores
        610 Retail bakeries
        611 Food stores, n.e.c.
        612 Motor vehicle dealers
        620 Auto and home supply stores
        621 Gasoline service stations
        622 Miscellaneous vehicle dealers
        623 Apparel and accessory stores, except shoe
        630 Shoe stores
        631 Furniture and home furnishings stores
        632 Household appliance stores
        633 Radio, TV, and computer stores
        640 Music stores
        641 Eating and drinking places
        642 Drug stores
        650 Liquor stores
        651 Sporting goods, bicycles, and hobby stores
        652 Book and stationery stores
        660 Jewelry stores
        661 Gift, novelty, and souvenir shops
        662 Sewing, needlework, and piece goods stores
        663 Catalog and mail order houses
        670 Vending machine operators
        671 Direct selling establishments
        672 Fuel dealers
        681 Retail florists
        682 Miscellaneous retail stores
        691 Retail trade, n.s.
        700 Banking
        701 Savings institutions, including credit unions
        702 Credit agencies, n.e.c.
        710 Security, commodity brokerage, and investment companies
        711 Insurance
        712 Real estate, including real estate-insurance offices
        721 Advertising
        722 Services to dwellings and other buildings
        731 Personnel supply services
        732 Computer and data processing services
        740 Detective and protective services
        741 Business services, n.e.c.
        742 Automotive rental and leasing, without drivers
        750 Automobile parking and carwashes
        751 Automotive repair and related services
        752 Electrical repair shops
        760 Miscellaneous repair services
        761 Private households
        762 Hotels and motels
        770 Lodging places, except hotels and motels
        771 Laundry, cleaning, and garment services
        772 Beauty shops
        780 Barber shops
        781 Funeral service and crematories
        782 Shoe repair shops
        790 Dressmaking shops
        791 Miscellaneous personal services
        800 Theaters and motion pictures
        801 Video tape rental
        802 Bowling centers
        810 Miscellaneous entertainment and recreation services
        812 Offices and clinics of physicians
        820 Offices and clinics of dentists
        821 Offices and clinics of chiropractors
        822 Offices and clinics of optometrists
        830 Offices and clinics of health practitioners, n.e.c.
        831 Hospitals
        832 Nursing and personal care facilities
        840 Health services, n.e.c.
        841 Legal services
        842 Elementary and secondary schools
        850 Colleges and universities
        851 Vocational schools
        852 Libraries
        860 Educational services, n.e.c.
        861 Job training and vocational rehabilitation services
        862 Child day care services
        863 Family child care homes
        870 Residential care facilities, without nursing
        871 Social services, n.e.c.
        872 Museums, art galleries, and zoos
        873 Labor unions
        880 Religious organizations
        881 Membership organizations, n.e.c.
        882 Engineering, architectural, and surveying services
        890 Accounting, auditing, and bookkeeping services
        891 Research, development, and testing services
        892 Management and public relations services
        893 Miscellaneous professional and related services
        900 Executive and legislative offices
        901 General government, n.e.c.
        910 Justice, public order, and safety
        921 Public finance, taxation, and monetary policy
        922 Administration of human resources programs
        930 Administration of environmental quality and housing programs
        931 Administration of economic programs
        932 National security and international affairs
        940 Army
        941 Air Force
        942 Navy
        950 Marines
        951 Coast Guard
        952 Armed Forces, branch not specified
        960 Military Reserves or National Guard
        """.strip().splitlines()
    )
}
